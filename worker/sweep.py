"""The sweeper, a process of its own: brings back what was lost and removes what was left.

Expired leases return to the queue, waiting runs get another message, unsent
messages are sent, and this host's leftover work folders are removed.
"""

from __future__ import annotations

import shutil
import signal
import threading
from datetime import UTC, datetime
from pathlib import Path

import structlog
from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from app import logs
from app.db.session import Database, make_engine
from app.models import Run
from app.queue import Dispatcher, celery_sender
from app.runs import service
from app.storage import FileStore
from kernel_eval.errors import JudgeError
from kernel_eval.sandbox.cgroup import sweep_orphans
from worker.settings import WorkerSettings
from worker.workplace import attempts_on_disk

_log = structlog.get_logger(__name__)


class Sweeper:
    """One pass after another, every `worker_sweep_s` seconds, until told to stop."""

    def __init__(self, settings: WorkerSettings, database: Database, dispatcher: Dispatcher) -> None:
        self._settings = settings
        self._database = database
        self._dispatcher = dispatcher

    def run(self, stopping: threading.Event) -> None:
        """Sweeps until `stopping` is set; a database that is away is waited for."""
        while not stopping.is_set():
            try:
                self.sweep(datetime.now(UTC))
            except SQLAlchemyError as error:
                _log.warning("sweep_failed", error=str(error))
            stopping.wait(self._settings.worker_sweep_s)

    def sweep(self, now: datetime) -> None:
        """One pass."""
        with self._database.session() as session:
            swept = service.sweep(session, now)
            leftovers = self._leftovers(session)
        if swept.expired or swept.rewoken:
            _log.info("swept", expired=swept.expired, errored=swept.errored, rewoken=swept.rewoken)
        self._dispatcher.send_pending()
        for folder in leftovers:
            shutil.rmtree(folder, ignore_errors=True)
            _log.info("leftover_removed", folder=folder.name)
        FileStore(self._settings.storage_dir).remove_stale()
        self._sweep_groups()

    def _sweep_groups(self) -> None:
        """Kills and removes control groups whose judge died."""
        try:
            swept = sweep_orphans()
        except (JudgeError, OSError) as error:
            _log.warning("control_groups_not_swept", error=str(error))
            return
        if swept:
            _log.info("control_groups_removed", names=swept)

    def _leftovers(self, session: Session) -> list[Path]:
        """Work folders whose attempt no longer holds its run."""
        found = attempts_on_disk(self._settings.work_folder)
        query = select(Run.id, Run.fence).where(Run.lease_holder.is_not(None), Run.id.in_({run for run, _ in found}))
        alive = {(run_id, fence) for run_id, fence in session.execute(query)} if found else set()
        return [folder for attempt, folder in found.items() if attempt not in alive]


def main() -> None:
    """Runs the sweeper until SIGTERM or SIGINT."""
    settings = WorkerSettings()
    logs.configure(as_json=settings.log_json)
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    engine = make_engine(settings.database_url, pool_size=2)
    sender = celery_sender(settings.broker_url)
    Sweeper(settings, Database(engine), Dispatcher(engine, sender)).run(stopping)
    sender.close()
    engine.dispose()


if __name__ == "__main__":
    main()
