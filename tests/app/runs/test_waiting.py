"""The queue as a submission's owner and everybody else see it."""

from __future__ import annotations

import pytest

from app.models import Mode, Visibility
from app.runs import service
from app.runs.schemas import HardwareQueue
from app.runs.waiting import queue_view
from app.submissions.schemas import StepName, StepState, SubmissionView
from app.submissions.service import public_log, submission_view
from app.web.views.status import status_line
from tests.app.runs.conftest import LEASE_S, Bench, at, judged

pytestmark = pytest.mark.database


def view(bench: Bench, run_id: int) -> SubmissionView:
    with bench.owner.session() as session:
        return submission_view(session, bench.submission(run_id).public_id, None, "http://board.example")


def queue(bench: Bench) -> HardwareQueue:
    with bench.owner.session() as session:
        (found,) = queue_view(session, at(0)).queues
    return found


def sentence(found: SubmissionView) -> str:
    return status_line(found, lambda text: text).sentence


def current(found: SubmissionView) -> list[StepName]:
    return [step.name for step in found.steps if step.state is StepState.CURRENT]


def test_a_run_whose_worker_died_is_in_the_queue_again_and_says_so(bench: Bench) -> None:
    run_id = bench.add()
    with bench.worker.session() as session:
        assert service.claim(session, "cpu", "w1", at(1), LEASE_S)
    running = view(bench, run_id)
    assert (running.wait, running.attempt, current(running)) == (None, 1, [StepName.BUILDING])
    assert "at work" in sentence(running)
    with bench.worker.session() as session:
        assert service.sweep(session, at(2 + LEASE_S)).expired == 1
    waiting = view(bench, run_id)
    assert waiting.wait is not None
    assert (waiting.wait.position, waiting.attempt, current(waiting)) == (1, 1, [StepName.QUEUED])
    assert "waits for attempt 2 of 3" in sentence(waiting)
    assert "at work" not in sentence(waiting)
    assert [(entry.submission, entry.attempt) for entry in queue(bench).waiting] == [(waiting.id, 2)]
    with bench.worker.session() as session:
        assert service.claim(session, "cpu", "w2", at(40), LEASE_S)
    again = view(bench, run_id)
    assert (again.wait, again.attempt, current(again)) == (None, 2, [StepName.BUILDING])
    assert "this is attempt 2 of 3" in sentence(again)
    assert [(entry.submission, entry.attempt) for entry in queue(bench).running] == [(again.id, 2)]


def test_a_run_that_was_given_back_waits_without_a_word_of_a_fault(bench: Bench) -> None:
    run_id = bench.add()
    with bench.worker.session() as session:
        lease = service.claim(session, "cpu", "w1", at(1), LEASE_S)
    assert lease is not None
    with bench.worker.session() as session:
        service.release(session, lease, at(2))
    waiting = view(bench, run_id)
    assert waiting.wait is not None
    assert (waiting.attempt, current(waiting)) == (0, [StepName.QUEUED])
    assert "fault" not in sentence(waiting)
    assert "Waiting for a free judge." in sentence(waiting)
    with bench.owner.session() as session:
        assert "gave the run back" in public_log(session, waiting.id, None)


def test_how_long_a_run_takes_is_told_by_whole_runs_alone(bench: Bench) -> None:
    judged(bench, 0, "Broken", {"exp": 0.0}, took_s=1)
    judged(bench, 10, "Practice", {"exp": 80.0}, took_s=20, mode=Mode.PRACTICE, visibility=Visibility.PRIVATE)
    assert queue(bench).median_run_s is None
    judged(bench, 50, "Whole", {"exp": 80.0, "gelu": 0.0}, took_s=25)
    judged(bench, 90, "Wrong", {"exp": 20.0}, took_s=27)
    assert queue(bench).median_run_s == 26
