"""A worker from its start to its end: self-test, announcement, Celery until told to stop."""

from __future__ import annotations

import os
import signal
from functools import cached_property

import structlog
from sqlalchemy import select

from app.db.session import Database, make_engine
from app.models import Board, WorkerState
from kernel_eval.errors import JudgeError
from kernel_eval.sandbox.selftest import check_host
from worker import devices
from worker.announce import Announcement
from worker.celery_app import StopFlag, create_celery
from worker.evaluate import Evaluator
from worker.hidden import season_suite
from worker.scratch import use_scratch
from worker.settings import WorkerSettings

EXIT_UNFIT = 3
ARGUMENTS = ("worker", "--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel=WARNING")
_log = structlog.get_logger(__name__)


class ChildProcess:
    """What a forked child of the worker makes for itself, once: connections don't survive a fork."""

    def __init__(self, settings: WorkerSettings, stopping: StopFlag) -> None:
        self._settings = settings
        self._stopping = stopping

    @cached_property
    def database(self) -> Database:
        """An engine of the child's own."""
        return Database(make_engine(self._settings.database_url))

    @cached_property
    def evaluator(self) -> Evaluator:
        """The child's evaluator."""
        return Evaluator(self._settings, self.database, self._stopping, self.stop_unfit)

    def evaluate(self) -> None:
        """Judges the next waiting run, if there is one."""
        self.evaluator.evaluate_next()

    def prepare(self) -> None:
        """Loads suite, peaks and judge ahead of the first run."""
        self.evaluator.prepare()

    def stop_unfit(self, why: str) -> None:
        """This host can judge no more: says so and stops the whole worker, which looks again when it is restarted."""
        self._stopping.set()
        announcement(self._settings, self.database).announce(WorkerState.DOWN, why)
        os.kill(os.getppid(), signal.SIGTERM)


def announcement(settings: WorkerSettings, database: Database) -> Announcement:
    """This worker's row."""
    return Announcement(database, settings.worker_name, settings.worker_hardware)


def run(settings: WorkerSettings) -> int:
    """Runs the worker until SIGTERM; the exit code.

    Fails closed: where this host can't judge it takes no lease, says in its row
    what is missing and how to bring it, and ends with 3.
    """
    database = Database(make_engine(settings.database_url, pool_size=1))
    row = announcement(settings, database)
    unfit = why_unfit(settings, database)
    if unfit:
        row.announce(WorkerState.DOWN, "\n".join(unfit))
        _log.error("worker_unfit", reasons=unfit)
        return EXIT_UNFIT
    row.announce(WorkerState.UP, fingerprint=devices.host_peaks(settings).fingerprint())
    row.start_beating()
    stopping = StopFlag()
    try:
        _serve(settings, stopping)
    finally:
        row.leave()
    return 0


def why_unfit(settings: WorkerSettings, database: Database) -> list[str]:
    """Everything that keeps this host from judging, each with what to do about it; empty where nothing does."""
    reasons = [f"{part.part}: {part.fix}" for part in check_host()]
    try:
        season_suite(settings)
        with database.session() as session:
            boards = session.scalars(select(Board).where(Board.hardware == settings.worker_hardware)).all()
        reasons += [reason for board in boards if (reason := _why_not_for(board, settings))]
    except JudgeError as fault:
        reasons.append(f"suite: {fault}")
    return reasons


def _why_not_for(board: Board, settings: WorkerSettings) -> str | None:
    """Why runs for that board must not reach this worker; boards of its hardware share one queue."""
    if board.slug.endswith("-trial") != settings.is_trial:
        return f"settings: a worker for a trial can't serve {board.slug}, nor the other way round; use another database"
    if board.slug != settings.board:
        return None
    unlike = devices.why_not_like(board.fingerprint, devices.host_peaks(settings))
    return f"host: not the one that {board.slug} pins ({unlike})" if unlike else None


def _serve(settings: WorkerSettings, stopping: StopFlag) -> None:
    child = ChildProcess(settings, stopping)
    app = create_celery(settings.broker_url, settings.worker_hardware, child.evaluate, child.prepare, stopping)
    use_scratch(settings.scratch_folder)
    app.worker_main([*ARGUMENTS, f"--hostname={settings.worker_hardware}@{settings.worker_name}"])
