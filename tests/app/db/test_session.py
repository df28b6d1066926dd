"""The session scope: all or nothing, and what follows a commit."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from sqlalchemy import Engine, func, select

from app import queue
from app.db.session import session_scope
from app.models import OutboxMessage, User
from tests.app.conftest import Engines

pytestmark = pytest.mark.database


@pytest.fixture(scope="module")
def engine(database_url: str, engines: Engines) -> Engine:
    return engines(database_url)


def test_what_raises_is_rolled_back_and_tells_nobody(engine: Engine) -> None:
    kicked: list[bool] = []

    def fail() -> None:
        with session_scope(engine, lambda: kicked.append(True)) as session:
            session.add(User(name="gone"))
            queue.put(session, "eval.cpu", {"run_id": 1}, datetime.now(UTC))
            session.flush()
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert kicked == []
    with session_scope(engine) as session:
        assert session.scalar(select(func.count()).select_from(User)) == 0
        assert session.scalar(select(func.count()).select_from(OutboxMessage)) == 0


def test_the_dispatcher_is_kicked_after_a_commit_with_messages_and_only_then(engine: Engine) -> None:
    seen: list[int] = []

    def kick() -> None:
        with session_scope(engine) as other:
            seen.append(other.scalar(select(func.count()).select_from(OutboxMessage)) or 0)

    with session_scope(engine, kick) as session:
        session.add(User(name="stays"))
    assert seen == []
    with session_scope(engine, kick) as session:
        queue.put(session, "eval.cpu", {"run_id": 1}, datetime.now(UTC))
    assert seen == [1]
