"""A worker tells what it is, whether it takes leases, and that it is alive."""

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
from sqlalchemy.exc import SQLAlchemyError

import kernel_eval
from app.db.session import Database
from app.models import WorkerState
from app.workers import service

BEAT_S = 10.0
_log = structlog.get_logger(__name__)


@dataclass
class Announcement:
    """Keeps one worker's row. `start_beating` runs a thread until `leave`."""

    database: Database
    name: str
    hardware: str
    _stopping: threading.Event = field(default_factory=threading.Event)

    def announce(self, state: WorkerState, message: str = "", fingerprint: Mapping[str, Any] | None = None) -> None:
        """The worker has just started, or says why it can't."""
        with self.database.session() as session:
            service.announce(
                session,
                self.name,
                self.hardware,
                datetime.now(UTC),
                fingerprint=fingerprint or {},
                versions=versions(),
                state=state,
                message=message,
            )

    def start_beating(self) -> None:
        """Starts the thread that says "alive" every few seconds."""
        threading.Thread(target=self._beat, name="worker-heartbeat", daemon=True).start()

    def leave(self) -> None:
        """Says that the worker takes no more leases, unless it has said why already.

        A database that is away is no reason to hang.
        """
        self._stopping.set()
        with contextlib.suppress(SQLAlchemyError), self.database.session() as session:
            if service.heard_of(session, self.name, datetime.now(UTC)) is not WorkerState.DOWN:
                service.leave(session, self.name, datetime.now(UTC))

    def _beat(self) -> None:
        while not self._stopping.wait(BEAT_S):
            try:
                with self.database.session() as session:
                    service.heard_of(session, self.name, datetime.now(UTC))
            except SQLAlchemyError as error:
                _log.warning("worker_heartbeat_failed", error=str(error))


def versions() -> dict[str, str]:
    """Versions of what decides about verdicts and times on this host."""
    return {
        "judge": kernel_eval.__version__,
        "python": platform.python_version(),
        "torch": metadata.version("torch"),
        "kernel": platform.release(),
    }
