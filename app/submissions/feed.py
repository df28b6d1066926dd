"""Wakes those who wait for news of a submission, without a thread or a database session per waiter.

One connection per process listens to PostgreSQL's notifications. Where it is
down, waiters look again every few seconds, so that news are late but never lost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import psycopg
import structlog
from psycopg import sql

from app.submissions.happenings import CHANNEL

LOOK_AGAIN_S = 5.0
_RECONNECT_S = 1.0
_log = structlog.get_logger(__name__)


@dataclass
class Feed:
    """Lives in one event loop. `database_url` is psycopg's or SQLAlchemy's form."""

    database_url: str
    _waiting: dict[int, set[asyncio.Event]] = field(default_factory=dict)
    _task: asyncio.Task[None] | None = None
    closing: bool = False
    """The portal is about to stop: nobody should wait for news any more."""

    def close(self) -> None:
        """Wake everybody who waits; they find that there is nothing to wait for any more. In the event loop."""
        self.closing = True
        for events in self._waiting.values():
            for event in events:
                event.set()

    def start(self) -> None:
        """Start to listen, in the running event loop."""
        self._task = asyncio.get_running_loop().create_task(self._listen_always())

    async def stop(self) -> None:
        """Stop listening."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    @contextmanager
    def watching(self, submission_id: int) -> Iterator[asyncio.Event]:
        """An event that is set whenever something happens to that submission.

        Begin to watch before looking, clear before looking again: then nothing is missed.
        """
        event = asyncio.Event()
        self._waiting.setdefault(submission_id, set()).add(event)
        try:
            yield event
        finally:
            events = self._waiting[submission_id]
            events.discard(event)
            if not events:
                del self._waiting[submission_id]

    async def _listen_always(self) -> None:
        while True:
            try:
                await self._listen()
            except psycopg.Error as error:
                _log.warning("feed_interrupted", error=str(error))
            await asyncio.sleep(_RECONNECT_S)

    async def _listen(self) -> None:
        url = self.database_url.replace("postgresql+psycopg://", "postgresql://", 1)
        async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
            await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(CHANNEL)))
            async for notification in connection.notifies():
                self._wake(notification.payload)

    def _wake(self, payload: str) -> None:
        if payload.isdigit():
            for event in self._waiting.get(int(payload), ()):
                event.set()


async def news(event: asyncio.Event, timeout_s: float) -> None:
    """Wait until the event is set, at most `timeout_s` and never longer than `LOOK_AGAIN_S`; then clear it."""
    with suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), min(timeout_s, LOOK_AGAIN_S))
    event.clear()
