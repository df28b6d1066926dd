"""The status line of a submission, from its status and its events. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from app.lifecycle import SETTLED, SubmissionStatus
from app.submissions.happenings import Happening
from app.submissions.schemas import EventView, StepName, StepState, StepView

_BEGINS = {
    Happening.RECEIVED: StepName.RECEIVED,
    Happening.QUEUED: StepName.QUEUED,
    Happening.RETRYING: StepName.QUEUED,
    Happening.RETURNED: StepName.QUEUED,
    Happening.STARTED: StepName.BUILDING,
    Happening.BUILDING: StepName.BUILDING,
    Happening.PUBLIC_CASES: StepName.PUBLIC_CASES,
    Happening.HIDDEN_CASES: StepName.HIDDEN_CASES,
    Happening.PUBLISHED: StepName.OUTCOME,
    Happening.HELD: StepName.OUTCOME,
    Happening.FAILED: StepName.OUTCOME,
    Happening.CANCELLED: StepName.OUTCOME,
    Happening.WITHDRAWN: StepName.OUTCOME,
}
_BEGIN_AGAIN = frozenset({Happening.STARTED, Happening.QUEUED, Happening.RETRYING, Happening.RETURNED})
"""What begins another attempt: steps behind it are forgotten."""


def steps_of(status: SubmissionStatus, events: Iterable[EventView], *, hidden: bool) -> list[StepView]:
    """The steps in order; `hidden` False leaves out hidden cases (practice)."""
    begun: dict[StepName, EventView] = {}
    counts: dict[StepName, tuple[int, int]] = {}
    for event in events:
        step = _BEGINS.get(Happening(event.kind))
        if step is None:
            continue
        if Happening(event.kind) in _BEGIN_AGAIN:
            _forget_from(step, begun, counts)
        begun.setdefault(step, event)
        _count(step, event, counts)
    names = [name for name in StepName if hidden or name is not StepName.HIDDEN_CASES]
    furthest = max((names.index(step) for step in begun if step in names), default=0)
    return [_step(name, index, furthest, status, begun, counts) for index, name in enumerate(names)]


def _forget_from(step: StepName, begun: dict[StepName, EventView], counts: dict[StepName, tuple[int, int]]) -> None:
    order = list(StepName)
    for later in order[order.index(step) :]:
        begun.pop(later, None)
        counts.pop(later, None)


def _count(step: StepName, event: EventView, counts: dict[StepName, tuple[int, int]]) -> None:
    done = event.data.get("done", event.data.get("position"))
    total = event.data.get("total")
    if isinstance(done, int) and isinstance(total, int):
        counts[step] = (done, total)


def _step(
    name: StepName,
    index: int,
    furthest: int,
    status: SubmissionStatus,
    begun: dict[StepName, EventView],
    counts: dict[StepName, tuple[int, int]],
) -> StepView:
    at = begun[name].at if name in begun else None
    done, total = counts.get(name, (None, None))
    if status in SETTLED:
        state = StepState.DONE if at is not None else StepState.AHEAD
    elif index > furthest:
        state = StepState.AHEAD
    else:
        state = StepState.CURRENT if index == furthest or done != total else StepState.DONE
    return StepView(name=name, state=state, at=at, done=done, total=total)
