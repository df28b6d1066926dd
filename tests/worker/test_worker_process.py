"""A real worker on a real queue: judges, survives being killed, and records every run exactly once."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from sqlalchemy import func, select

from app.lifecycle import RunStatus, SubmissionStatus
from app.models import CaseResult, HiddenCaseResult, OperatorResult, Run, StandingEvent, Submission, Worker, WorkerState
from app.queue import EVALUATE, celery_sender, queue_of
from app.runs import service
from kernel_eval.sandbox.selftest import check_host
from tests.factories.hosts import Host, candidate, make_host, within

pytestmark = [pytest.mark.database, pytest.mark.queue, pytest.mark.sandbox]


@pytest.fixture(scope="module")
def host(
    tmp_path_factory: pytest.TempPathFactory, database_url: str, worker_database_url: str, broker_url: str
) -> Host:
    missing = check_host()
    if missing:
        pytest.skip(f"no sandbox here: {missing[0].part}")
    return make_host(tmp_path_factory.mktemp("host"), database_url, worker_database_url, broker_url)


@pytest.fixture(scope="module")
def worker(host: Host) -> Iterator[int]:
    """The worker's process id; a sweeper runs beside it."""
    with host.running("worker", "run") as process, host.running("worker.sweep"):
        assert within(60, lambda: is_up(host)), host.logs()
        yield process.pid


def is_up(host: Host) -> bool:
    with host.session() as session:
        return session.scalar(select(func.count()).where(Worker.state == WorkerState.UP)) == 1


def ended(host: Host, run_id: int) -> bool:
    return host.run(run_id).status not in (RunStatus.QUEUED, RunStatus.RUNNING)


def children(pid: int) -> list[psutil.Process]:
    return psutil.Process(pid).children()


def rows(host: Host, run_id: int) -> tuple[int, int, int]:
    with host.session() as session:
        return tuple(  # type: ignore[return-value]
            session.scalar(select(func.count()).select_from(kind).where(kind.run_id == run_id))
            for kind in (OperatorResult, CaseResult, HiddenCaseResult)
        )


def test_a_worker_that_stops_gives_its_run_back_uncounted(host: Host) -> None:
    with host.running("worker", "run") as process:
        assert within(60, lambda: is_up(host)), host.logs()
        run_id = host.submit(candidate(pause_s=20.0))
        assert within(60, lambda: host.run(run_id).lease_holder is not None), host.logs()
        process.send_signal(signal.SIGTERM)
        process.wait(20)
    run = host.run(run_id)
    assert (run.status, run.lease_holder, run.attempt) == (RunStatus.RUNNING, None, 0)
    with host.session() as session:
        service.cancel(session, session.get_one(Submission, run.submission_id, with_for_update=True), run.queued_at)
        assert session.scalars(select(Worker)).one().state is WorkerState.DOWN
    assert "Traceback" not in host.logs()
    assert list(host.settings.scratch_folder.iterdir()) == []


def test_a_killed_worker_leaves_nothing_outside_its_folder_and_the_next_one_clears_that(host: Host) -> None:
    scratch, before = host.settings.scratch_folder, set(Path(tempfile.gettempdir()).glob("pymp-*"))
    process = host.start("worker", "run")
    assert within(60, lambda: is_up(host) and bool(children(process.pid))), host.logs()
    assert [folder.name for folder in scratch.iterdir()] == [str(process.pid)]
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert [folder.name for folder in scratch.iterdir()] == [str(process.pid)]
    with host.running("worker", "run") as following:
        assert within(60, lambda: [folder.name for folder in scratch.iterdir()] == [str(following.pid)]), host.logs()
        assert within(60, lambda: bool(children(following.pid))), host.logs()
    assert list(scratch.iterdir()) == []
    assert set(Path(tempfile.gettempdir()).glob("pymp-*")) - before == set()


def test_a_worker_without_its_hidden_cases_takes_no_lease_and_says_why(host: Host, tmp_path: Path) -> None:
    elsewhere = Host(tmp_path, host.owner_url, {**host.environment, "HAPBOARD_WORKER_HIDDEN_DIR": str(tmp_path)})
    process = elsewhere.start("worker", "run")
    assert process.wait(60) == 3
    with host.session() as session:
        row = session.scalars(select(Worker)).one()
    assert row.state is WorkerState.DOWN
    assert "no hidden cases" in row.message


def test_a_submission_is_judged_and_recorded(host: Host, worker: int) -> None:
    run_id = host.submit(candidate())
    assert within(90, lambda: ended(host, run_id)), host.logs()
    assert host.run(run_id).status is RunStatus.FINISHED, host.run(run_id).error
    assert host.submission(run_id).status is SubmissionStatus.PUBLISHED
    assert rows(host, run_id) == (1, 4, 4)
    with host.session() as session:
        result = session.scalars(select(OperatorResult).where(OperatorResult.run_id == run_id)).one()
    assert (result.verdict, result.solved, result.public_passed) == ("accepted", True, 4)


def test_a_killed_child_leads_to_a_second_attempt_and_one_result(host: Host, worker: int) -> None:
    run_id = host.submit(candidate(pause_s=0.7))
    assert within(60, lambda: host.run(run_id).lease_holder is not None), host.logs()
    first = host.run(run_id).fence
    judged = [child for child in children(worker) if child.children()]
    within(20, lambda: bool([child for child in children(worker) if child.children()]))
    judged = [child for child in children(worker) if child.children()]
    assert judged, "nothing is being judged"
    os.kill(judged[0].pid, signal.SIGKILL)
    assert within(120, lambda: ended(host, run_id)), host.logs()
    run = host.run(run_id)
    assert run.status is RunStatus.FINISHED, run.error
    assert run.attempt == 2
    assert run.fence > first
    assert rows(host, run_id) == (1, 4, 4)
    assert not list((host.settings.work_folder).iterdir())


def test_a_message_delivered_again_changes_nothing(host: Host, worker: int) -> None:
    with host.session() as session:
        run_id = session.scalars(select(Run.id).where(Run.status == RunStatus.FINISHED).order_by(Run.id)).first()
        assert run_id is not None
        before = session.scalar(select(func.count()).select_from(StandingEvent))
    finished_at = host.run(run_id).finished_at
    sender = celery_sender(host.environment["HAPBOARD_BROKER_URL"])
    for _ in range(3):
        sender.send_task(EVALUATE, kwargs={"run_id": run_id}, queue=queue_of("cpu"))
    sender.close()
    other = host.submit(candidate())
    assert within(90, lambda: ended(host, other)), host.logs()
    assert host.run(run_id).finished_at == finished_at
    assert rows(host, run_id) == (1, 4, 4)
    with host.session() as session:
        after = session.scalar(select(func.count()).select_from(StandingEvent))
    assert after is not None
    assert before is not None
    assert after - before <= 1


def test_a_cancelled_run_is_ended_at_once_and_nothing_is_recorded(host: Host, worker: int) -> None:
    run_id = host.submit(candidate(pause_s=20.0))
    assert within(60, lambda: host.run(run_id).lease_holder is not None), host.logs()
    assert within(30, lambda: any(child.children() for child in children(worker)))
    with host.session() as session:
        submission = session.get_one(Submission, host.run(run_id).submission_id, with_for_update=True)
        service.cancel(session, submission, submission.received_at)
    assert within(10, lambda: not any(child.children() for child in children(worker))), host.logs()
    assert host.run(run_id).status is RunStatus.CANCELLED
    assert rows(host, run_id) == (0, 0, 0)
