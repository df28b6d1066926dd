"""The outbox and its dispatcher on a real broker."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
import redis
from sqlalchemy import Engine, func, select

from app.db.session import session_scope
from app.models import OutboxMessage
from app.queue import EVALUATE, Dispatcher, celery_sender, put, queue_of
from tests.app.conftest import Engines

pytestmark = [pytest.mark.database, pytest.mark.queue]


@pytest.fixture(scope="module")
def engine(database_url: str, engines: Engines) -> Engine:
    return engines(database_url)


@pytest.fixture
def broker(broker_url: str) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(broker_url) as client:
        client.flushdb()
        yield client


def write(engine: Engine, count: int) -> None:
    with session_scope(engine) as session:
        for number in range(count):
            put(session, queue_of("cpu"), {"run_id": number}, datetime.now(UTC))


def unsent(engine: Engine) -> int:
    with session_scope(engine) as session:
        query = select(func.count()).select_from(OutboxMessage).where(OutboxMessage.sent_at.is_(None))
        return session.scalar(query) or 0


def test_a_message_is_a_celery_task_on_the_hardwares_queue(
    engine: Engine, broker: redis.Redis, broker_url: str
) -> None:
    write(engine, 1)
    dispatcher = Dispatcher(engine, celery_sender(broker_url))
    assert dispatcher.send_pending() == 1
    assert dispatcher.send_pending() == 0
    (raw,) = broker.lrange("eval.cpu", 0, -1)
    message = json.loads(raw)
    assert message["headers"]["task"] == EVALUATE == "worker.evaluate"
    assert message["headers"]["kwargsrepr"] == "{'run_id': 0}"
    dispatcher.stop()


def test_dispatchers_in_parallel_send_each_message_once(engine: Engine, broker: redis.Redis, broker_url: str) -> None:
    write(engine, 250)
    dispatchers = [Dispatcher(engine, celery_sender(broker_url)) for _ in range(3)]
    threads = [threading.Thread(target=dispatcher.send_pending) for dispatcher in dispatchers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert unsent(engine) == 0
    assert broker.llen("eval.cpu") == 250
    for dispatcher in dispatchers:
        dispatcher.stop()


def test_an_unreachable_broker_loses_nothing_and_is_tried_again(
    engine: Engine, broker: redis.Redis, broker_url: str
) -> None:
    write(engine, 2)
    away = Dispatcher(engine, celery_sender("redis://127.0.0.1:1/0"))
    began = time.monotonic()
    assert away.send_pending() == 0
    assert time.monotonic() - began < 10
    away.stop()
    assert unsent(engine) == 2
    with session_scope(engine) as session:
        attempts = session.scalars(select(OutboxMessage.attempts).where(OutboxMessage.sent_at.is_(None))).all()
        assert max(attempts) == 1
    back = Dispatcher(engine, celery_sender(broker_url))
    assert back.send_pending() == 2
    back.stop()


def test_the_thread_sends_at_once_when_kicked(engine: Engine, broker: redis.Redis, broker_url: str) -> None:
    dispatcher = Dispatcher(engine, celery_sender(broker_url))
    dispatcher.start()
    time.sleep(0.3)
    with session_scope(engine, dispatcher.kick) as session:
        put(session, queue_of("cpu"), {"run_id": 7}, datetime.now(UTC))
    deadline = time.monotonic() + 3
    while not broker.llen("eval.cpu") and time.monotonic() < deadline:
        time.sleep(0.01)
    assert broker.llen("eval.cpu") == 1
    dispatcher.stop()
