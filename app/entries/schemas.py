"""Entries as they are shown."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel


class EntryView(BaseModel):
    """Who stands on a board with what; empty text where not given."""

    id: int
    name: str
    user: str
    agent: str
    model: str
    harness: str
    dsl: str
    link: str
    note: str


class HistoryEntry(BaseModel):
    """One change of what an entry has on a board; `score` None took the operator off it.

    Scores of different suite versions are not comparable.
    """

    at: datetime
    board: str
    suite_version: str
    operator: str
    score: float | None
    noise: float
    result: str
    reason: str


class HistoryView(BaseModel):
    """An entry's history, oldest first."""

    entry: EntryView
    changes: list[HistoryEntry]
