"""Claims, fences, attempts and the sweep, with real concurrent connections."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime
from threading import Barrier

import pytest

from app.lifecycle import RunStatus, SubmissionStatus, TransitionRefused
from app.models import OperatorResult, Submission
from app.runs import service
from app.runs.errors import LeaseLost, RunCancelled
from app.runs.lease import Heartbeat, Lease, Swept
from app.submissions.happenings import Happening, locked
from tests.app.runs.conftest import LEASE_S, T0, Bench, at

pytestmark = pytest.mark.database
REPORT: dict[str, object] = {}


def claim(bench: Bench, now: datetime = T0, holder: str = "w1", hardware: str = "cpu") -> Lease | None:
    with bench.worker.session() as session:
        return service.claim(session, hardware, holder, now, LEASE_S)


def held(bench: Bench, now: datetime = T0, holder: str = "w1") -> Lease:
    lease = claim(bench, now, holder)
    assert lease is not None
    return lease


def beat(bench: Bench, lease: Lease, now: datetime) -> Heartbeat:
    with bench.worker.session() as session:
        return service.heartbeat(session, lease, now, LEASE_S)


def fail(bench: Bench, lease: Lease, now: datetime) -> RunStatus:
    with bench.worker.session() as session:
        return service.fail(session, lease, now, f"attempt {lease.attempt} broke")


def finish(bench: Bench, lease: Lease, now: datetime) -> SubmissionStatus:
    with bench.worker.session() as session:
        session.add(result_row(lease.run_id))
        return service.finish(session, lease, now, REPORT)


def sweep(bench: Bench, now: datetime) -> Swept:
    with bench.worker.session() as session:
        return service.sweep(session, now)


def cancel(bench: Bench, run_id: int) -> None:
    with bench.owner.session() as session:
        service.cancel(session, locked(session, bench.run(run_id).submission_id), at(5))


def result_row(run_id: int) -> OperatorResult:
    return OperatorResult(
        run_id=run_id, operator="exp", level="L1", source="s", verdict="accepted", score=80.0, noise=0.5,
        compile_points=20.0, correct_points=30.0, performance_points=30.0, solved=True, speedup=1.2,
        public_passed=20, public_total=20, hidden_passed_coarse=100, hidden_total=80,
    )  # fmt: skip


def test_a_claim_takes_the_longest_waiting_run_and_says_all_a_worker_needs(bench: Bench) -> None:
    first, second = bench.add(at(0)), bench.add(at(1))
    lease = held(bench, at(2))
    assert lease.run_id == first
    assert (lease.attempt, lease.fence, lease.holder, lease.board) == (1, 1, "w1", "cann-bench-small-cpu")
    assert lease.deadline == at(2 + LEASE_S)
    assert bench.submission(first).status is SubmissionStatus.RUNNING
    assert held(bench, at(2)).run_id == second
    assert claim(bench) is None
    assert bench.kinds(first) == ["received", "queued", "started"]


def test_priority_goes_before_time_and_other_hardware_is_left_alone(bench: Bench) -> None:
    bench.add(at(0))
    urgent = bench.add(at(1))
    with bench.owner.session() as session:
        run = bench.run(urgent)
        run.priority = 10
        session.merge(run)
    assert claim(bench, hardware="910b2") is None
    assert held(bench).run_id == urgent


def test_twenty_workers_at_once_get_ten_different_runs(bench: Bench) -> None:
    waiting = {bench.add(at(number)) for number in range(10)}
    barrier = Barrier(20)

    def work(number: int) -> list[int]:
        barrier.wait()
        leases = [claim(bench, at(20), f"w{number}-{turn}") for turn in range(2)]
        return [lease.run_id for lease in leases if lease is not None]

    with ThreadPoolExecutor(20) as pool:
        taken = [run_id for found in pool.map(work, range(20)) for run_id in found]
    assert sorted(taken) == sorted(waiting)


def test_claims_cancels_and_sweeps_at_once_neither_block_nor_contradict(bench: Bench) -> None:
    """Lock order: none of these may deadlock with another."""
    waiting = [bench.add(at(number)) for number in range(12)]

    def act(number: int) -> None:
        if number % 3 == 0:
            with suppress(TransitionRefused):
                cancel(bench, waiting[number // 3])
        elif number % 3 == 1:
            lease = claim(bench, at(20), f"w{number}")
            if lease is not None:
                with suppress(LeaseLost, RunCancelled):
                    with bench.worker.session() as session:
                        service.record_progress(session, lease, Happening.BUILDING, at(21))
                    finish(bench, lease, at(22))
        else:
            sweep(bench, at(25))

    with ThreadPoolExecutor(12) as pool:
        list(pool.map(act, range(36)))
    pairs = {(bench.run(run_id).status.value, bench.submission(run_id).status.value) for run_id in waiting}
    assert pairs <= {
        ("queued", "queued"),
        ("cancelled", "cancelled"),
        ("finished", "published"),
        ("running", "running"),
    }


def test_a_heartbeat_prolongs_and_tells_what_happened(bench: Bench) -> None:
    run_id = bench.add()
    lease = held(bench)
    assert beat(bench, lease, at(20)) is Heartbeat.HELD
    assert bench.run(run_id).lease_deadline == at(20 + LEASE_S)
    assert sweep(bench, at(40)).expired == 0
    assert sweep(bench, at(51)).expired == 1
    assert beat(bench, lease, at(52)) is Heartbeat.LOST
    second = held(bench, at(53), "w2")
    assert beat(bench, lease, at(54)) is Heartbeat.LOST
    cancel(bench, run_id)
    assert beat(bench, second, at(55)) is Heartbeat.CANCELLED


def test_a_worker_that_slept_past_its_lease_can_write_nothing(bench: Bench) -> None:
    run_id = bench.add()
    stale = held(bench, at(0), "slept")
    assert sweep(bench, at(31)).expired == 1
    current = held(bench, at(32), "other")
    assert current.run_id == run_id
    assert (current.attempt, current.fence) == (2, 3)
    for act in (
        lambda: finish(bench, stale, at(33)),
        lambda: fail(bench, stale, at(33)),
        lambda: _progress(bench, stale),
        lambda: _release(bench, stale),
    ):
        with pytest.raises(LeaseLost):
            act()
    with bench.owner.session() as session:
        assert session.query(OperatorResult).filter_by(run_id=run_id).count() == 0
    assert finish(bench, current, at(34)) is SubmissionStatus.PUBLISHED
    for lease in (stale, current):
        with pytest.raises(LeaseLost):
            finish(bench, lease, at(35))
    with bench.owner.session() as session:
        assert session.query(OperatorResult).filter_by(run_id=run_id).count() == 1


def _progress(bench: Bench, lease: Lease) -> None:
    with bench.worker.session() as session:
        service.record_progress(session, lease, Happening.BUILDING, at(33))


def _release(bench: Bench, lease: Lease) -> None:
    with bench.worker.session() as session:
        service.release(session, lease, at(33))


def test_two_workers_that_finish_at_once_record_one_result(bench: Bench) -> None:
    run_id = bench.add()
    lease = held(bench)
    barrier = Barrier(2)

    def end(_: int) -> bool:
        barrier.wait()
        try:
            finish(bench, lease, at(5))
        except LeaseLost:
            return False
        return True

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(end, range(2))) == [False, True]
    with bench.owner.session() as session:
        assert session.query(OperatorResult).filter_by(run_id=run_id).count() == 1


def test_faults_of_ours_are_retried_thrice_and_then_are_said_to_be_ours(bench: Bench) -> None:
    run_id = bench.add()
    assert fail(bench, held(bench, at(1)), at(2)) is RunStatus.RUNNING
    assert bench.submission(run_id).status is SubmissionStatus.RUNNING
    assert fail(bench, held(bench, at(3)), at(4)) is RunStatus.RUNNING
    assert fail(bench, held(bench, at(5)), at(6)) is RunStatus.ERRORED
    run, submission = bench.run(run_id), bench.submission(run_id)
    assert submission.status is SubmissionStatus.FAILED
    assert "not your code" in submission.message
    assert "broke" not in submission.message
    assert run.error.count("broke") == 3
    assert submission.finished_at == at(6)
    assert claim(bench, at(7)) is None
    assert bench.kinds(run_id)[-3:] == ["retrying", "started", "failed"]


def test_expired_leases_count_as_attempts_too(bench: Bench) -> None:
    run_id = bench.add()
    for attempt in range(service.MAX_ATTEMPTS):
        held(bench, at(attempt * 100))
        swept = sweep(bench, at(attempt * 100 + 31))
        assert swept.expired == 1
    assert swept.errored == 1
    assert bench.run(run_id).status is RunStatus.ERRORED
    assert bench.submission(run_id).status is SubmissionStatus.FAILED


def test_a_released_run_costs_no_attempt(bench: Bench) -> None:
    run_id = bench.add()
    lease = held(bench)
    _release(bench, lease)
    again = held(bench, at(1))
    assert again.run_id == run_id
    assert (again.attempt, again.fence) == (1, lease.fence + 2)


def test_cancelling_a_running_one_lets_nothing_be_recorded_afterwards(bench: Bench) -> None:
    run_id = bench.add()
    lease = held(bench)
    cancel(bench, run_id)
    with pytest.raises(RunCancelled):
        finish(bench, lease, at(6))
    with pytest.raises(RunCancelled):
        _progress(bench, lease)
    assert bench.run(run_id).status is RunStatus.CANCELLED
    assert bench.submission(run_id).status is SubmissionStatus.CANCELLED
    with bench.owner.session() as session:
        assert session.query(OperatorResult).filter_by(run_id=run_id).count() == 0
    with pytest.raises(TransitionRefused):
        cancel(bench, run_id)


def test_a_lost_message_is_written_again_and_an_answered_one_is_not(bench: Bench) -> None:
    run_id, other = bench.add(), bench.add()
    held(bench, at(1))
    with bench.owner.session() as session:
        assert bench.messages(session, other) == 1
    assert sweep(bench, at(20)).rewoken == 0
    assert sweep(bench, at(32)).rewoken == 1
    with bench.owner.session() as session:
        assert bench.messages(session, other) == 2
        assert bench.messages(session, run_id) == 2, "its lease expired as well, so that it waits again"
    assert sweep(bench, at(33)).rewoken == 0


def test_submissions_are_locked_before_runs_everywhere(bench: Bench) -> None:
    """A cancel that waits for a worker's transaction gets its turn and sees the outcome."""
    run_id = bench.add()
    lease = held(bench)
    with ThreadPoolExecutor(1) as pool, bench.worker.session() as session:
        service.held_run(session, lease)
        waiting = pool.submit(cancel, bench, run_id)
        session.add(result_row(run_id))
        service.finish(session, lease, at(3), REPORT)
        session.flush()
        assert not waiting.done()
        session.commit()
        with pytest.raises(TransitionRefused):
            waiting.result(timeout=5)
    with bench.owner.session() as session:
        assert session.get_one(Submission, lease.submission_id).status is SubmissionStatus.PUBLISHED
