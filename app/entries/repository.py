"""SQL about entries."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Row, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from app.models import Board, Entry, Run, StandingEvent, Submission, Suite, User


def with_users(session: Session, entry_ids: Iterable[int]) -> list[Row[Entry, str]]:
    """The entries with their users' names."""
    query = select(Entry, User.name).join(User, User.id == Entry.user_id).where(Entry.id.in_(list(entry_ids)))
    return list(session.execute(query))


def history(session: Session, entry_id: int) -> list[Row[StandingEvent, str, str, str, int]]:
    """Changes of the entry's standings, oldest first: with board, suite version, submission and run number."""
    query = (
        select(StandingEvent, Board.slug, Suite.version, Submission.public_id, Run.number)
        .join(Board, Board.id == StandingEvent.board_id)
        .join(Suite, Suite.id == Board.suite_id)
        .join(Run, Run.id == StandingEvent.run_id)
        .join(Submission, Submission.id == Run.submission_id)
        .where(StandingEvent.entry_id == entry_id)
        .order_by(StandingEvent.id)
    )
    return list(session.execute(query))


def find_or_add(session: Session, user_id: int, name: str, words: dict[str, str]) -> Entry:
    """The user's entry with these `agent`, `model`, `harness`, `dsl`; made where there is none.

    Two requests at once end up with the same entry.
    """
    new = insert(Entry).values(user_id=user_id, name=name, link="", note="", **words)
    session.execute(new.on_conflict_do_nothing(index_elements=["user_id", *words]))
    same = [getattr(Entry, column) == word for column, word in words.items()]
    return session.scalars(select(Entry).where(Entry.user_id == user_id, *same)).one()
