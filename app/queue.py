"""The outbox, and its dispatcher: the only sender of Celery messages, after commit.

PostgreSQL is the queue of record; a message only wakes a worker. A message that
is lost, doubled or late changes nothing: the sweeper writes another one.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import structlog
from celery import Celery
from kombu.exceptions import OperationalError
from sqlalchemy import Engine, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from app.db.session import OUTBOX_WRITTEN, session_scope
from app.models import OutboxMessage

EVALUATE = "worker.evaluate"
"""Name of the Celery task that a worker is woken with; its argument is `run_id`."""
_BATCH = 100
_POLL_S = 5.0
_log = structlog.get_logger(__name__)


def queue_of(hardware: str) -> str:
    """Name of the Celery queue that the hardware's workers listen on."""
    return f"eval.{hardware}"


def put(session: Session, topic: str, payload: Mapping[str, Any], now: datetime) -> None:
    """Write a message into the outbox, in the caller's transaction. `topic` is the queue's name."""
    session.add(OutboxMessage(topic=topic, payload=dict(payload), created_at=now))
    session.info[OUTBOX_WRITTEN] = True


def wake_worker(session: Session, hardware: str, run_id: int, now: datetime) -> None:
    """Ask for a worker of that hardware to look for work."""
    put(session, queue_of(hardware), {"run_id": run_id}, now)


def celery_sender(broker_url: str) -> Celery:
    """A Celery app that only sends; it gives up within seconds when the broker is away."""
    app = Celery("hapboard", broker=broker_url, set_as_current=False)
    app.conf.update(
        task_ignore_result=True,
        broker_transport_options={"socket_timeout": 5, "socket_connect_timeout": 3},
        task_publish_retry=False,
    )
    return app


@dataclass
class Dispatcher:
    """Sends what stands in the outbox. Safe in several processes at once: rows are locked while sent.

    `kick` returns at once; a thread does the sending, and looks by itself every few
    seconds. `send_pending` sends in the caller's thread.
    """

    engine: Engine
    sender: Celery
    _wanted: threading.Event = field(default_factory=threading.Event)
    _stopping: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread."""
        self._thread = threading.Thread(target=self._run, name="outbox", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread and wait for it."""
        self._stopping.set()
        self._wanted.set()
        if self._thread is not None:
            self._thread.join(timeout=15)
        self.sender.close()

    def kick(self) -> None:
        """Something was put into the outbox and committed."""
        self._wanted.set()

    def send_pending(self) -> int:
        """Send all unsent messages; returns how many went out.

        A message that cannot be sent stays, with one more attempt counted.
        """
        sent = 0
        while True:
            taken, gone = self._send_batch()
            sent += gone
            if taken < _BATCH or gone < taken:
                return sent

    def _send_batch(self) -> tuple[int, int]:
        gone = 0
        with session_scope(self.engine) as session:
            query = select(OutboxMessage).where(OutboxMessage.sent_at.is_(None)).order_by(OutboxMessage.id)
            messages = session.scalars(query.limit(_BATCH).with_for_update(skip_locked=True)).all()
            for message in messages:
                message.attempts += 1
                if not self._sent(message):
                    break
                message.sent_at = datetime.now(UTC)
                gone += 1
        return len(messages), gone

    def _sent(self, message: OutboxMessage) -> bool:
        try:
            self.sender.send_task(EVALUATE, kwargs=dict(message.payload), queue=message.topic)
        except OperationalError as error:
            _log.warning("broker_unreachable", message_id=message.id, error=str(error))
            return False
        return True

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._wanted.wait(_POLL_S)
            self._wanted.clear()
            try:
                self.send_pending()
            except SQLAlchemyError as error:
                _log.warning("outbox_unreachable", error=str(error))
