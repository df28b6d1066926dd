"""The session scope: the only place of the project that commits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from sqlalchemy import Engine, create_engine
from sqlalchemy.orm import Session

OUTBOX_WRITTEN = "outbox_written"
"""Key in `Session.info` that `app.queue.put` sets."""


def make_engine(database_url: str, *, pool_size: int = 10) -> Engine:
    """An engine on PostgreSQL by psycopg; connections are tested before use."""
    return create_engine(database_url, pool_size=pool_size, max_overflow=10, pool_pre_ping=True, pool_timeout=10)


@contextmanager
def session_scope(engine: Engine, after_outbox: Callable[[], None] | None = None) -> Iterator[Session]:
    """One transaction: committed when the block ends well, rolled back when it raises.

    After a commit that wrote outbox messages `after_outbox` is called, so that
    they are sent at once; without it the sweeper sends them.
    """
    with Session(engine, expire_on_commit=False) as session:
        yield session
        session.commit()
        written = bool(session.info.get(OUTBOX_WRITTEN))
    if written and after_outbox is not None:
        after_outbox()


@dataclass(frozen=True)
class Database:
    """An engine together with what must happen after messages were put into the outbox."""

    engine: Engine
    after_outbox: Callable[[], None] | None = None

    def session(self) -> AbstractContextManager[Session]:
        """A session scope on this database."""
        return session_scope(self.engine, self.after_outbox)
