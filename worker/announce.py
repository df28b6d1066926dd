"""A worker's own row: what it is, whether it takes leases, and that it is alive."""

from __future__ import annotations

import contextlib
import platform
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from typing import Any

import structlog
from sqlalchemy import update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import SQLAlchemyError

import kernel_eval
from app.db.session import Database
from app.models import Worker, WorkerState

BEAT_S = 10.0
_log = structlog.get_logger(__name__)


@dataclass
class Announcement:
    """Writes one worker's row. `beat` in a thread of its own until `stop`."""

    database: Database
    name: str
    hardware: str
    _stopping: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def announce(self, state: WorkerState, message: str = "", fingerprint: Mapping[str, Any] | None = None) -> None:
        """Writes the whole row anew: the worker has just started, or says why it can't."""
        now = datetime.now(UTC)
        row = {
            "name": self.name,
            "hardware": self.hardware,
            "state": state,
            "message": message,
            "fingerprint": dict(fingerprint or {}),
            "versions": versions(),
            "started_at": now,
            "heartbeat_at": now,
        }
        query = insert(Worker).values(**row).on_conflict_do_update(index_elements=[Worker.name], set_=row)
        with self.database.session() as session:
            session.execute(query)

    def withdraw(self, message: str = "stopped") -> None:
        """Says that the worker takes no more leases; a database that is away is no reason to hang."""
        self._stopping.set()
        with contextlib.suppress(SQLAlchemyError):
            self._update(state=WorkerState.DOWN, message=message)

    def start_beating(self) -> None:
        """Starts the thread that says "alive" every few seconds."""
        self._thread = threading.Thread(target=self._beat, name="worker-heartbeat", daemon=True)
        self._thread.start()

    def _beat(self) -> None:
        while not self._stopping.wait(BEAT_S):
            try:
                self._update(heartbeat_at=datetime.now(UTC))
            except SQLAlchemyError as error:
                _log.warning("worker_heartbeat_failed", error=str(error))

    def _update(self, **values: Any) -> None:
        with self.database.session() as session:
            session.execute(update(Worker).where(Worker.name == self.name).values(**values))


def versions() -> dict[str, str]:
    """Versions of what decides about verdicts and times on this host."""
    return {
        "judge": kernel_eval.__version__,
        "python": platform.python_version(),
        "torch": metadata.version("torch"),
        "kernel": platform.release(),
    }
