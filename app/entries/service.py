"""Find entries and show them."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy.orm import Session

from app.entries import repository
from app.entries.errors import EntryNotFound
from app.entries.schemas import EntryView, HistoryEntry, HistoryView
from app.models import Entry
from app.runs.coarse import shown_score
from app.runs.ids import result_id


def entry_for(
    session: Session, user_id: int, user_name: str, *, agent: str, model: str, harness: str, dsl: str
) -> Entry:
    """The user's entry with these words, made where there is none; it bears the agent's name, else the user's."""
    words = {"agent": agent, "model": model, "harness": harness, "dsl": dsl}
    return repository.find_or_add(session, user_id, agent or user_name, words)


def entry_views(session: Session, entry_ids: Iterable[int]) -> dict[int, EntryView]:
    """Views of many entries, by id."""
    return {entry.id: _view(entry, user) for entry, user in repository.with_users(session, entry_ids)}


def entry_view(session: Session, entry_id: int) -> EntryView:
    """View of one entry; raises `EntryNotFound`."""
    found = entry_views(session, [entry_id])
    if entry_id not in found:
        raise EntryNotFound(f"There is no entry {entry_id}.")
    return found[entry_id]


def history_view(session: Session, entry_id: int) -> HistoryView:
    """Every change of what the entry has on boards, oldest first; raises `EntryNotFound`."""
    entry = entry_view(session, entry_id)
    return HistoryView(
        entry=entry,
        changes=[
            HistoryEntry(
                at=event.at,
                board=board,
                suite_version=suite_version,
                operator=event.operator,
                score=shown_score(event.score),
                noise=round(event.noise, 1),
                result=result_id(public_id, number),
                reason=event.reason,
            )
            for event, board, suite_version, public_id, number in repository.history(session, entry_id)
        ],
    )


def _view(entry: Entry, user: str) -> EntryView:
    words = {name: getattr(entry, name) for name in ("id", "name", "agent", "model", "harness", "dsl", "link", "note")}
    return EntryView(user=user, **words)
