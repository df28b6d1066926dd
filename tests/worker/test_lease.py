"""A lease is kept while a run is judged, and known to be gone as soon as it is."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.lifecycle import RunStatus
from app.models import Submission
from app.runs import service
from app.runs.errors import LeaseLost
from app.runs.lease import Lease
from tests.worker.conftest import Queue
from worker.lease import LeaseKeeper

pytestmark = pytest.mark.database


def claimed(queue: Queue, lease_s: float = 30.0) -> Lease:
    queue.add()
    with queue.worker.session() as session:
        lease = service.claim(session, "cpu", "worker-1", datetime.now(UTC), lease_s)
    assert lease is not None
    return lease


def within(seconds: float, condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return condition()


def end(queue: Queue, lease: Lease) -> None:
    with queue.worker.session() as session:
        run = service.held_run(session, lease)
        run.attempt = run.max_attempts
        service.fail(session, lease, datetime.now(UTC), "the test is over")


def test_a_kept_lease_outlives_its_first_deadline(queue: Queue) -> None:
    lease = claimed(queue, lease_s=1.0)
    with LeaseKeeper(queue.worker, lease, lease_s=1.0, every_s=0.2) as keeper:
        time.sleep(1.5)
        assert not keeper.gone
        with queue.worker.session() as session:
            assert service.sweep(session, datetime.now(UTC)).expired == 0
    end(queue, lease)


def test_a_keeper_that_was_stopped_asks_no_more_so_that_a_recorded_run_is_not_called_lost(queue: Queue) -> None:
    lease = claimed(queue)
    with LeaseKeeper(queue.worker, lease, lease_s=30.0, every_s=0.02) as keeper:
        keeper.stop()
        end(queue, lease)
        time.sleep(0.2)
        assert not keeper.gone


def test_a_lease_that_another_attempt_took_is_gone(queue: Queue) -> None:
    lease = claimed(queue)
    with LeaseKeeper(queue.worker, lease, lease_s=30.0, every_s=0.05) as keeper:
        with queue.worker.session() as session:
            assert service.sweep(session, datetime.now(UTC) + timedelta(minutes=5)).expired == 1
            second = service.claim(session, "cpu", "worker-2", datetime.now(UTC), 30.0)
        assert second is not None
        assert (second.run_id, second.attempt) == (lease.run_id, 2)
        assert within(3, lambda: keeper.gone)
    with pytest.raises(LeaseLost), queue.worker.session() as session:
        service.finish(session, lease, datetime.now(UTC), {})
    end(queue, second)


def test_a_cancelled_run_is_gone_and_the_keeper_says_so_once(queue: Queue) -> None:
    lease = claimed(queue)
    told: list[str] = []
    with LeaseKeeper(queue.worker, lease, lease_s=30.0, every_s=0.05, end_now=lambda: told.append("gone")) as keeper:
        with Session(queue.owner) as session:
            submission = session.scalars(
                select(Submission).where(Submission.id == lease.submission_id).with_for_update()
            ).one()
            service.cancel(session, submission, datetime.now(UTC))
            session.commit()
        assert within(3, lambda: keeper.gone)
    assert told == ["gone"]
    assert queue.run(lease.run_id).status is RunStatus.CANCELLED
