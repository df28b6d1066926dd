"""SQL about entries."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Row, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from app.models import Entry, User


def with_users(session: Session, entry_ids: Iterable[int]) -> list[Row[Entry, str]]:
    """The entries with their users' names."""
    query = select(Entry, User.name).join(User, User.id == Entry.user_id).where(Entry.id.in_(list(entry_ids)))
    return list(session.execute(query))


def find_or_add(session: Session, user_id: int, name: str, words: dict[str, str]) -> Entry:
    """The user's entry with these `agent`, `model`, `harness`, `dsl`; made where there is none.

    Two requests at once end up with the same entry.
    """
    new = insert(Entry).values(user_id=user_id, name=name, link="", note="", **words)
    session.execute(new.on_conflict_do_nothing(index_elements=["user_id", *words]))
    same = [getattr(Entry, column) == word for column, word in words.items()]
    return session.scalars(select(Entry).where(Entry.user_id == user_id, *same)).one()
