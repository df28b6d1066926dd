"""A run's way: queued, claimed under a lease, heard of, given back, recorded; and the sweep.

Workers call these. PostgreSQL is the queue of record: a claim is one locked row,
every write of a worker is refused once its fencing number is stale.
Lock order, everywhere: submission, run, board. Locks leave keys alone, so that
events and results may be added by others meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy.orm import Session

from app.lifecycle import RunStatus, SubmissionStatus, move
from app.models import Board, Run, Submission
from app.queue import wake_worker
from app.runs import publish, repository
from app.runs.errors import LeaseLost, RunCancelled
from app.runs.lease import Heartbeat, Lease, Swept
from app.submissions.happenings import Happening, advance, locked, tell

MAX_ATTEMPTS = 3
WAKE_AGAIN_AFTER = timedelta(seconds=30)
OUR_FAULT = (
    "The judge failed, not your code: {attempts} attempts ended in a fault of ours. "
    "Nothing was scored and nothing counts against you. It was reported; submit again in a while."
)


def enqueue(session: Session, submission: Submission, now: datetime, *, priority: int = 0) -> Run:
    """Queue a (further) run of a locked or new submission on its board's hardware, with its message in the outbox."""
    hardware = session.get_one(Board, submission.board_id).hardware
    previous = repository.latest(session, submission.id)
    run = Run(
        submission_id=submission.id,
        number=previous.number + 1 if previous else 1,
        status=RunStatus.QUEUED,
        priority=priority,
        max_attempts=MAX_ATTEMPTS,
        hardware=hardware,
        queued_at=now,
        woken_at=now,
    )
    session.add(run)
    session.flush()
    wake_worker(session, hardware, run.id, now)
    return run


def claim(session: Session, hardware: str, holder: str, now: datetime, lease_s: float) -> Lease | None:
    """Take the next waiting run of `hardware` for `lease_s` seconds; None where nothing waits.

    Several workers may claim at once: each gets another run. The fencing number
    rises with every claim, so that an earlier holder's writes are refused.
    """
    taken = repository.take_next(session, hardware)
    if taken is None:
        return None
    run, submission = taken
    _begin_attempt(run, holder, now, lease_s)
    started = {"attempt": run.attempt, "worker": holder}
    if submission.status is SubmissionStatus.QUEUED:
        advance(session, submission, SubmissionStatus.RUNNING, now, data=started, run_id=run.id)
    else:
        tell(session, submission.id, Happening.STARTED, now, started, run.id)
    board = session.get_one(Board, submission.board_id)
    return _lease(run, submission, board.slug)


def heartbeat(session: Session, lease: Lease, now: datetime, lease_s: float) -> Heartbeat:
    """Prolong the lease to `now` + `lease_s`; tells whether it still stands."""
    run = repository.locked(session, lease.run_id)
    if run.status is RunStatus.CANCELLED:
        return Heartbeat.CANCELLED
    if not _holds(run, lease):
        return Heartbeat.LOST
    run.lease_deadline = now + timedelta(seconds=lease_s)
    return Heartbeat.HELD


def held_run(session: Session, lease: Lease) -> Run:
    """The lease's run, locked with its submission, for writing results; raises `LeaseLost` or `RunCancelled`."""
    locked(session, lease.submission_id)
    run = repository.locked(session, lease.run_id)
    if run.status is RunStatus.CANCELLED:
        raise RunCancelled(lease.run_id)
    if not _holds(run, lease):
        raise LeaseLost(lease.run_id, lease.fence)
    return run


def record_progress(
    session: Session, lease: Lease, kind: Happening, now: datetime, data: Mapping[str, Any] | None = None
) -> None:
    """Tell of progress; refused like every write. `data` must hold nothing of a hidden case."""
    held_run(session, lease)
    tell(session, lease.submission_id, kind, now, data, lease.run_id)


def finish(session: Session, lease: Lease, now: datetime, report: Mapping[str, Any]) -> SubmissionStatus:
    """End the run after its rows were added in this transaction, and publish what may be.

    Call `held_run` before rows are added, so that a stale worker's rows never meet
    the current one's. `report` is what `app.runs.schemas.RunReport` describes. Raises
    `LeaseLost` or `RunCancelled`; then the rows are rolled back with the transaction.
    """
    with session.no_autoflush:
        submission = locked(session, lease.submission_id)
        run = held_run(session, lease)
    session.flush()
    run.report = dict(report)
    _end(run, RunStatus.FINISHED, now)
    return publish.publish_run(session, run, submission, now)


def release(session: Session, lease: Lease, now: datetime) -> None:
    """Give the run back without counting the attempt, as a worker does that stops in good order."""
    run = held_run(session, lease)
    run.attempt -= 1
    _give_back(session, run, now)
    tell(session, lease.submission_id, Happening.RETURNED, now, run_id=run.id)


def fail(session: Session, lease: Lease, now: datetime, error: str) -> RunStatus:
    """The attempt ended in a fault of ours: another one follows, or the run is errored.

    `error` is for admins. Nothing of it is shown, scored, or counted against anybody.
    """
    submission = locked(session, lease.submission_id)
    run = held_run(session, lease)
    return _attempt_failed(session, run, submission, now, error)


def cancel(session: Session, submission: Submission, now: datetime) -> None:
    """Cancel a locked submission with its run; raises `TransitionRefused` where it is too late.

    A worker that has the run learns it from its next heartbeat and is refused every write.
    """
    advance(session, submission, SubmissionStatus.CANCELLED, now)
    run = repository.locked_latest(session, submission.id)
    if run is not None and run.status in (RunStatus.QUEUED, RunStatus.RUNNING):
        _end(run, RunStatus.CANCELLED, now)


def sweep(session: Session, now: datetime) -> Swept:
    """Return expired leases and wake workers for runs whose message got lost."""
    statuses = [_sweep_one(session, *ids, now) for ids in repository.expired(session, now)]
    rewoken = repository.unanswered(session, now - WAKE_AGAIN_AFTER)
    for run in rewoken:
        run.woken_at = now
        wake_worker(session, run.hardware, run.id, now)
    errored = sum(status is RunStatus.ERRORED for status in statuses)
    expired = sum(status is not None for status in statuses)
    return Swept(expired=expired, errored=errored, rewoken=len(rewoken))


def _sweep_one(session: Session, submission_id: int, run_id: int, now: datetime) -> RunStatus | None:
    """End one expired attempt, unless its worker was heard of meanwhile."""
    submission = locked(session, submission_id)
    run = repository.locked(session, run_id)
    if run.lease_deadline is None or run.lease_deadline >= now:
        return None
    error = f"attempt {run.attempt}: the lease of {run.lease_holder} ran out at {run.lease_deadline.isoformat()}"
    return _attempt_failed(session, run, submission, now, error)


def _attempt_failed(session: Session, run: Run, submission: Submission, now: datetime, error: str) -> RunStatus:
    run.error = f"{run.error}\n{error}".strip()
    if run.attempt >= run.max_attempts:
        _end(run, RunStatus.ERRORED, now)
        if submission.status is SubmissionStatus.RUNNING:
            message = OUR_FAULT.format(attempts=run.attempt)
            advance(session, submission, SubmissionStatus.FAILED, now, message=message, run_id=run.id)
        return run.status
    _give_back(session, run, now)
    again = {"attempt": run.attempt + 1, "of": run.max_attempts}
    tell(session, submission.id, Happening.RETRYING, now, again, run.id)
    return run.status


def _give_back(session: Session, run: Run, now: datetime) -> None:
    _drop_lease(run)
    run.woken_at = now
    wake_worker(session, run.hardware, run.id, now)


def _begin_attempt(run: Run, holder: str, now: datetime, lease_s: float) -> None:
    if run.status is RunStatus.QUEUED:
        move(run, RunStatus.RUNNING)
    run.attempt += 1
    run.fence += 1
    run.lease_holder = holder
    run.lease_deadline = now + timedelta(seconds=lease_s)
    run.started_at = now


def _end(run: Run, status: RunStatus, now: datetime) -> None:
    move(run, status)
    _drop_lease(run)
    run.finished_at = now


def _drop_lease(run: Run) -> None:
    run.lease_holder = None
    run.lease_deadline = None
    run.fence += 1


def _holds(run: Run, lease: Lease) -> bool:
    return run.status is RunStatus.RUNNING and run.fence == lease.fence and run.lease_holder == lease.holder


def _lease(run: Run, submission: Submission, board: str) -> Lease:
    if run.lease_deadline is None or run.lease_holder is None:
        raise LeaseLost(run.id, run.fence)
    return Lease(
        run_id=run.id,
        submission_id=submission.id,
        public_id=submission.public_id,
        holder=run.lease_holder,
        fence=run.fence,
        deadline=run.lease_deadline,
        attempt=run.attempt,
        max_attempts=run.max_attempts,
        hardware=run.hardware,
        board=board,
        artifact_sha256=submission.artifact_sha256,
        filename=submission.filename,
        mode=submission.mode,
    )
