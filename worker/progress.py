"""What the outside learns while a run is judged: public happenings at once, hidden ones on ticks.

From an operator's first hidden case on, nothing is told except on ticks of 30 s,
so that no time of a hidden case can be read off the events' times.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import structlog
from sqlalchemy.exc import SQLAlchemyError

from app.db.session import Database
from app.runs import service
from app.runs.errors import LeaseError
from app.runs.lease import Lease
from app.submissions.happenings import Happening
from kernel_eval.model import (
    BuildFinished,
    BuildStarted,
    CaseJudged,
    Event,
    OperatorFinished,
    OperatorStarted,
    Split,
)

PUBLIC_EVERY_S = 1.0
LOG_CAP_CHARACTERS = 64_000
_log = structlog.get_logger(__name__)


@dataclass
class Progress:
    """Takes the judge's events and tells the public part of them; an `on_event` of `pipeline.evaluate`.

    `public_total` is the number of public cases of the whole run. Telling is
    never a reason to stop judging: a lost lease is the `LeaseKeeper`'s business.
    """

    database: Database
    lease: Lease
    public_total: int
    tick_s: float
    clock: Callable[[], float] = time.monotonic
    _told_at: float = field(default=float("-inf"))
    _hidden_since: float | None = None
    _position: tuple[int, int] = (0, 0)
    _public_done: int = 0
    _waiting: list[tuple[Happening, dict[str, Any]]] = field(default_factory=list)

    def __call__(self, event: Event) -> None:
        """Notes the event and tells what is due."""
        match event:
            case BuildStarted():
                self._add(Happening.BUILDING, {})
            case BuildFinished(build=build):
                self._add_build(build.succeeded, build.seconds, build.message, build.log)
            case OperatorStarted():
                self._position = (event.position, event.total)
                self._add(Happening.OPERATOR, _operator(event))
            case CaseJudged(split=Split.PUBLIC):
                self._public_done += 1
                self._replace(Happening.PUBLIC_CASES, {"done": self._public_done, "total": self.public_total})
            case CaseJudged():
                self._note_hidden()
            case OperatorFinished(result=result):
                self._add(Happening.OPERATOR_DONE, {"operator": result.operator})
        self._tell_due()

    def close(self) -> None:
        """Tells what waits for its tick: judging has ended, and its outcome is told in the same moment."""
        self._tell_all()

    def _add_build(self, succeeded: bool, seconds: float, message: str, log: bytes) -> None:
        self._add(Happening.BUILT, {"succeeded": succeeded, "seconds": round(seconds, 1), "message": message})
        text = log.decode("utf-8", errors="replace").replace("\0", "\ufffd")
        if text.strip():
            self._add(Happening.LOG, {"text": text[-LOG_CAP_CHARACTERS:]})

    def _note_hidden(self) -> None:
        if self._hidden_since is None:
            self._tell_all()
            self._hidden_since = self.clock()
        self._replace(Happening.HIDDEN_CASES, dict(zip(("position", "total"), self._position, strict=True)))

    def _tell_due(self) -> None:
        """Before any hidden case: at once, counts of cases once a second. Afterwards: on ticks."""
        every = PUBLIC_EVERY_S if self._hidden_since is None else self.tick_s
        counts_only = all(kind is Happening.PUBLIC_CASES for kind, _ in self._waiting)
        at_once = self._hidden_since is None and not counts_only
        if self._waiting and (at_once or self.clock() - self._told_at >= every):
            self._tell_all()

    def _tell_all(self) -> None:
        waiting, self._waiting = self._waiting, []
        self._told_at = self.clock()
        if not waiting:
            return
        try:
            with self.database.session() as session:
                for kind, data in waiting:
                    service.record_progress(session, self.lease, kind, datetime.now(UTC), data)
        except (LeaseError, SQLAlchemyError) as error:
            _log.warning("progress_not_told", run_id=self.lease.run_id, error=str(error))

    def _add(self, kind: Happening, data: Mapping[str, Any]) -> None:
        self._waiting.append((kind, dict(data)))

    def _replace(self, kind: Happening, data: Mapping[str, Any]) -> None:
        """Only the latest count of its kind is worth telling."""
        self._waiting = [entry for entry in self._waiting if entry[0] is not kind]
        self._add(kind, data)


def _operator(event: OperatorStarted) -> dict[str, Any]:
    return {"operator": event.operator, "position": event.position, "total": event.total}
