"""A worker from its start to its end: self-test, announcement, Celery until told to stop."""

from __future__ import annotations

from functools import cached_property

import structlog

from app.db.session import Database, make_engine
from app.models import WorkerState
from kernel_eval.sandbox.selftest import MissingPart, check_host
from worker import devices
from worker.announce import Announcement
from worker.celery_app import StopFlag, create_celery
from worker.evaluate import Evaluator
from worker.settings import WorkerSettings

EXIT_INCOMPLETE = 3
ARGUMENTS = ("worker", "--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel=WARNING")
_log = structlog.get_logger(__name__)


class ChildProcess:
    """What a forked child of the worker makes for itself, once: connections don't survive a fork."""

    def __init__(self, settings: WorkerSettings, stopping: StopFlag) -> None:
        self._settings = settings
        self._stopping = stopping

    @cached_property
    def evaluator(self) -> Evaluator:
        """The child's evaluator, with a database engine of its own."""
        return Evaluator(self._settings, Database(make_engine(self._settings.database_url)), self._stopping)

    def evaluate(self) -> None:
        """Judges the next waiting run, if there is one."""
        self.evaluator.evaluate_next()

    def prepare(self) -> None:
        """Loads suite, peaks and judge ahead of the first run."""
        self.evaluator.prepare()


def run(settings: WorkerSettings) -> int:
    """Runs the worker until SIGTERM; the exit code.

    Fails closed: with any part of the sandbox missing it takes no lease, says in
    its row which part that is and how to bring it, and ends with 3.
    """
    database = Database(make_engine(settings.database_url, pool_size=1))
    row = Announcement(database, settings.worker_name, settings.worker_hardware)
    missing = check_host()
    if missing:
        row.announce(WorkerState.DOWN, told(missing))
        _log.error("sandbox_incomplete", missing=told(missing))
        return EXIT_INCOMPLETE
    row.announce(WorkerState.UP, fingerprint=devices.host_peaks(settings).fingerprint())
    row.start_beating()
    try:
        _serve(settings)
    finally:
        row.leave()
    return 0


def told(missing: list[MissingPart]) -> str:
    """Missing parts and their fixes as text, one per line."""
    return "\n".join(f"{part.part}: {part.fix}" for part in missing)


def _serve(settings: WorkerSettings) -> None:
    stopping = StopFlag()
    child = ChildProcess(settings, stopping)
    app = create_celery(settings.broker_url, settings.worker_hardware, child.evaluate, child.prepare, stopping)
    app.worker_main([*ARGUMENTS, f"--hostname={settings.worker_hardware}@{settings.worker_name}"])
