"""What the outside learns while a run is judged: public cases at once, hidden ones on ticks only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import SubmissionEvent
from app.runs import service
from app.runs.lease import Lease
from kernel_eval.model import (
    Build,
    BuildFinished,
    BuildStarted,
    CaseJudged,
    CaseResult,
    Level,
    OperatorFinished,
    OperatorResult,
    OperatorStarted,
    Split,
    Verdict,
)
from tests.worker.conftest import Queue
from worker.progress import Progress

pytestmark = pytest.mark.database

SECRET = "element 17 of a hidden tensor is wrong"


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def lease(queue: Queue) -> Iterator[Lease]:
    queue.add()
    with queue.worker.session() as session:
        lease = service.claim(session, "cpu", "worker-1", datetime.now(UTC), 600.0)
    assert lease is not None
    yield lease
    with queue.worker.session() as session:
        service.held_run(session, lease).attempt = lease.max_attempts
        service.fail(session, lease, datetime.now(UTC), "the test is over")


@pytest.fixture
def progress(queue: Queue, lease: Lease, clock: Clock) -> Progress:
    return Progress(queue.worker, lease, public_total=20, tick_s=30.0, clock=clock)


def told(queue: Queue, lease: Lease) -> list[tuple[str, dict[str, object]]]:
    with Session(queue.owner) as session:
        query = select(SubmissionEvent).where(SubmissionEvent.submission_id == lease.submission_id)
        events = session.scalars(query.order_by(SubmissionEvent.id)).all()
    return [(event.kind, event.data) for event in events if event.kind not in ("received", "queued", "started")]


def judged(number: int, split: Split) -> CaseJudged:
    result = CaseResult("exp", number, split, Verdict.WRONG_VALUES, message=SECRET if split is Split.HIDDEN else "")
    return CaseJudged(result, split, number, 100)


def finished(name: str) -> OperatorFinished:
    return OperatorFinished(
        OperatorResult(name, Level.L1, Verdict.WRONG_VALUES, (), 20.0, 0.0, 0.0, 20.0, solved=False, message=SECRET)
    )


def test_building_and_its_log_are_told_at_once(queue: Queue, lease: Lease, progress: Progress) -> None:
    progress(BuildStarted())
    progress(BuildFinished(Build(None, b"g++: \xff no\0thing", 1.25, "no wheel")))
    kinds = told(queue, lease)
    assert [kind for kind, _ in kinds] == ["building", "built", "log"]
    assert kinds[1][1] == {"succeeded": False, "seconds": 1.2, "message": "no wheel"}
    assert "\0" not in str(kinds[2][1]["text"])


def test_counts_of_public_cases_are_told_once_a_second(
    queue: Queue, lease: Lease, progress: Progress, clock: Clock
) -> None:
    progress(OperatorStarted("exp", 1, 8, 100))
    for number in range(1, 9):
        clock.now += 0.25
        progress(judged(number, Split.PUBLIC))
    counts = [data["done"] for kind, data in told(queue, lease) if kind == "public_cases"]
    assert counts == [4, 8]


def test_after_the_first_hidden_case_nothing_is_told_between_ticks(
    queue: Queue, lease: Lease, progress: Progress, clock: Clock
) -> None:
    progress(OperatorStarted("exp", 1, 8, 100))
    progress(judged(1, Split.HIDDEN))
    before = len(told(queue, lease))
    for number in range(2, 30):
        clock.now += 1.0
        progress(judged(number, Split.HIDDEN))
    progress(finished("exp"))
    progress(OperatorStarted("gelu", 2, 8, 100))
    assert len(told(queue, lease)) == before
    clock.now = 31.0
    progress(judged(1, Split.HIDDEN))
    after = told(queue, lease)[before:]
    assert [kind for kind, _ in after] == ["operator_done", "operator", "hidden"]
    assert after[-1][1] == {"position": 2, "total": 8}


def test_at_the_end_the_last_counts_are_told_without_a_tick(
    queue: Queue, lease: Lease, progress: Progress, clock: Clock
) -> None:
    progress(OperatorStarted("exp", 1, 2, 100))
    progress(judged(1, Split.HIDDEN))
    progress(OperatorStarted("gelu", 2, 2, 100))
    for number in range(1, 21):
        progress(judged(number, Split.PUBLIC))
    progress(judged(1, Split.HIDDEN))
    progress.close()
    counts = {kind: data for kind, data in told(queue, lease) if kind in ("public_cases", "hidden")}
    assert counts == {"public_cases": {"done": 20, "total": 20}, "hidden": {"position": 2, "total": 2}}
    progress.close()
    assert len([kind for kind, _ in told(queue, lease) if kind == "public_cases"]) == 1


def test_nothing_of_a_hidden_case_is_ever_told(queue: Queue, lease: Lease, progress: Progress, clock: Clock) -> None:
    for number in range(1, 81):
        clock.now += 31.0
        progress(judged(number, Split.HIDDEN))
    progress(finished("exp"))
    text = str(told(queue, lease))
    assert SECRET not in text
    assert "wrong_values" not in text


def test_a_lost_lease_does_not_stop_the_judge(queue: Queue, lease: Lease, progress: Progress) -> None:
    stale = Progress(queue.worker, Lease(**{**vars(lease), "fence": lease.fence - 1}), 20, 30.0)
    stale(BuildStarted())
    assert told(queue, lease) == []
