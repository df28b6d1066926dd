"""The sweeper returns expired leases, sends what was not sent, and clears what an attempt left behind."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.lifecycle import RunStatus, SubmissionStatus
from app.models import OutboxMessage
from app.queue import Dispatcher, celery_sender, queue_of
from app.runs import service
from tests.worker.conftest import Queue
from worker.settings import WorkerSettings
from worker.sweep import Sweeper

pytestmark = [pytest.mark.database, pytest.mark.queue]


@pytest.fixture
def settings(worker_database_url: str, broker_url: str, tmp_path: Path) -> WorkerSettings:
    return WorkerSettings(
        database_url=worker_database_url, broker_url=broker_url, storage_dir=tmp_path, worker_dir=tmp_path / "worker"
    )


@pytest.fixture
def sweeper(settings: WorkerSettings, queue: Queue) -> Iterator[Sweeper]:
    sender = celery_sender(settings.broker_url)
    yield Sweeper(settings, queue.worker, Dispatcher(queue.worker.engine, sender))
    sender.close()


def waiting_messages(settings: WorkerSettings) -> int:
    app = celery_sender(settings.broker_url)
    try:
        with app.connection_for_read() as connection:
            return int(connection.default_channel.client.llen(queue_of("cpu")))
    finally:
        app.close()


def unsent(queue: Queue) -> int:
    with Session(queue.owner) as session:
        query = select(func.count()).select_from(OutboxMessage).where(OutboxMessage.sent_at.is_(None))
        return session.scalar(query) or 0


def test_messages_that_were_never_sent_are_sent(queue: Queue, sweeper: Sweeper, settings: WorkerSettings) -> None:
    queue.add()
    queue.add()
    assert unsent(queue) == 2
    before = waiting_messages(settings)
    sweeper.sweep(datetime.now(UTC))
    assert unsent(queue) == 0
    assert waiting_messages(settings) == before + 2


def test_an_expired_lease_is_judged_again_and_its_folder_goes(
    queue: Queue, sweeper: Sweeper, settings: WorkerSettings
) -> None:
    with queue.worker.session() as session:
        lease = service.claim(session, "cpu", "worker-1", datetime.now(UTC), 30.0)
    assert lease is not None
    mine = settings.work_folder / f"run-{lease.run_id}-{lease.fence}"
    foreign = settings.work_folder / "something-else"
    for folder in (mine, foreign):
        folder.mkdir(parents=True)
    sweeper.sweep(datetime.now(UTC))
    assert mine.exists()
    sweeper.sweep(datetime.now(UTC) + timedelta(seconds=31))
    assert not mine.exists()
    assert foreign.exists()
    shutil.rmtree(foreign)
    run = queue.run(lease.run_id)
    assert (run.lease_holder, run.status, run.attempt) == (None, RunStatus.RUNNING, 1)
    with queue.worker.session() as session:
        again = service.claim(session, "cpu", "worker-2", datetime.now(UTC), 30.0)
    assert again is not None
    assert (again.run_id, again.attempt) == (lease.run_id, 2)


def test_a_run_whose_attempts_all_expire_fails_without_blaming_anybody(queue: Queue, sweeper: Sweeper) -> None:
    now = datetime.now(UTC) + timedelta(minutes=1)
    run_id = 0
    for _ in range(20):
        sweeper.sweep(now)
        with queue.worker.session() as session:
            lease = service.claim(session, "cpu", "worker-1", now, 30.0)
        if lease is None:
            break
        run_id = lease.run_id
        now += timedelta(minutes=1)
    run = queue.run(run_id)
    assert run.status is RunStatus.ERRORED
    assert run.attempt == run.max_attempts
    submission = queue.submission(run_id)
    assert submission.status is SubmissionStatus.FAILED
    assert "not your code" in submission.message
