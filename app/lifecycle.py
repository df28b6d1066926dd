"""Where a submission or a run is, and the only function that moves it on."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Protocol


class SubmissionStatus(StrEnum):
    """Where a submission is. It never goes back to an earlier one."""

    RECEIVED = "received"
    QUEUED = "queued"
    RUNNING = "running"
    PUBLISHED = "published"
    HELD = "held"
    FAILED = "failed"
    """The judge could not do its work; the submitter is not to blame."""
    CANCELLED = "cancelled"
    WITHDRAWN = "withdrawn"


class RunStatus(StrEnum):
    """Where a run is. A run that waits for a further attempt stays `RUNNING`, without a lease."""

    QUEUED = "queued"
    RUNNING = "running"
    FINISHED = "finished"
    ERRORED = "errored"
    CANCELLED = "cancelled"


_S = SubmissionStatus
_R = RunStatus

TRANSITIONS: Mapping[type[StrEnum], Mapping[StrEnum, frozenset[StrEnum]]] = {
    SubmissionStatus: {
        _S.RECEIVED: frozenset({_S.QUEUED, _S.CANCELLED, _S.FAILED}),
        _S.QUEUED: frozenset({_S.RUNNING, _S.CANCELLED, _S.FAILED}),
        _S.RUNNING: frozenset({_S.PUBLISHED, _S.HELD, _S.FAILED, _S.CANCELLED}),
        _S.HELD: frozenset({_S.PUBLISHED, _S.WITHDRAWN}),
        _S.PUBLISHED: frozenset({_S.HELD, _S.WITHDRAWN}),
        _S.FAILED: frozenset(),
        _S.CANCELLED: frozenset(),
        _S.WITHDRAWN: frozenset(),
    },
    RunStatus: {
        _R.QUEUED: frozenset({_R.RUNNING, _R.CANCELLED}),
        _R.RUNNING: frozenset({_R.FINISHED, _R.ERRORED, _R.CANCELLED}),
        _R.FINISHED: frozenset(),
        _R.ERRORED: frozenset(),
        _R.CANCELLED: frozenset(),
    },
}
"""Per kind, from each status the statuses that may follow; held and published alternate only by a reviewer's decision.

Words of the two kinds are equal as text, so each kind has its own table.
"""

SETTLED: frozenset[SubmissionStatus] = frozenset({_S.PUBLISHED, _S.HELD, _S.FAILED, _S.CANCELLED, _S.WITHDRAWN})
"""Nothing more happens to these by itself."""


class LifecycleError(Exception):
    """A fault of ours: something treats a status as what it is not."""


class TransitionRefused(LifecycleError):
    """A status was asked to move where the table has no way."""

    def __init__(self, current: StrEnum, target: StrEnum) -> None:
        self.current = current
        self.target = target
        super().__init__(f"{type(current).__name__} cannot go from {current} to {target}")


class HasStatus(Protocol):
    """Anything with a status that this module may move: a submission or a run."""

    @property
    def status(self) -> StrEnum:
        """Where it is now."""


def may_move(current: StrEnum, target: StrEnum) -> bool:
    """Whether the table leads from `current` to `target`."""
    return type(current) is type(target) and target in TRANSITIONS[type(current)][current]


def move(thing: HasStatus, target: StrEnum) -> None:
    """Set `thing.status` to `target`; raises `TransitionRefused` where the table has no way.

    The caller holds the row's lock, so that two movers cannot both start from the same status.
    """
    current = thing.status
    if not may_move(current, target):
        raise TransitionRefused(current, target)
    setattr(thing, "status", target)  # noqa: B010 - two kinds of rows, two enums, one place that writes
