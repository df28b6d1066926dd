"""Keeps a lease alive while its run is judged, and knows at once when it is gone."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from types import TracebackType

import structlog
from sqlalchemy.exc import SQLAlchemyError

from app.db.session import Database
from app.runs import service
from app.runs.lease import Heartbeat, Lease

LOOK_S = 0.5
"""How soon a worker that is told to stop ends what it plays."""
_log = structlog.get_logger(__name__)


class LeaseKeeper:
    """A thread that prolongs `lease` every `every_s` seconds for `lease_s` more.

    `gone` turns true when another attempt has the run, when it was cancelled, or
    when the database could not be told for so long that the lease has run out;
    from then on nothing may be recorded. `end_now` is called once, in the thread,
    when the lease is gone or `stopping` says so: it ends what is being played.
    """

    def __init__(
        self,
        database: Database,
        lease: Lease,
        *,
        lease_s: float,
        every_s: float,
        stopping: Callable[[], bool] = lambda: False,
        end_now: Callable[[], object] = lambda: None,
    ) -> None:
        self._database = database
        self._lease = lease
        self._lease_s = lease_s
        self._every_s = every_s
        self._stopping = stopping
        self._end_now = end_now
        self._gone = threading.Event()
        self._done = threading.Event()
        self._valid_until = time.monotonic() + lease_s
        self._thread = threading.Thread(target=self._keep, name=f"lease-{lease.run_id}", daemon=True)

    @property
    def gone(self) -> bool:
        """Whether the run is no longer ours."""
        return self._gone.is_set()

    def __enter__(self) -> LeaseKeeper:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Ask no more: what is recorded next ends the lease by itself, and is refused where it is gone already."""
        self._done.set()
        self._thread.join()

    def _keep(self) -> None:
        due = time.monotonic() + self._every_s
        while not self._done.wait(min(LOOK_S, self._every_s)):
            if self._stopping():
                self._end_now()
                self._prolong_until_done()
                break
            if time.monotonic() < due:
                continue
            if not self._prolonged():
                break
            due = time.monotonic() + self._every_s

    def _prolong_until_done(self) -> None:
        while not self._done.wait(self._every_s) and self._prolonged():
            pass

    def _prolonged(self) -> bool:
        if self._still_held():
            return True
        self._gone.set()
        self._end_now()
        return False

    def _still_held(self) -> bool:
        asked = time.monotonic()
        try:
            with self._database.session() as session:
                answer = service.heartbeat(session, self._lease, datetime.now(UTC), self._lease_s)
        except SQLAlchemyError as error:
            _log.warning("heartbeat_failed", run_id=self._lease.run_id, error=str(error))
            return time.monotonic() < self._valid_until
        if answer is Heartbeat.HELD:
            self._valid_until = asked + self._lease_s
            return True
        _log.warning("lease_gone", run_id=self._lease.run_id, reason=str(answer))
        return False
