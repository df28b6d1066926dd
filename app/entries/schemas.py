"""Entries as they are shown."""

from __future__ import annotations

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
