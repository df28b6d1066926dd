"""`/entries`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request

from app.entries import service
from app.entries.schemas import EntryView, HistoryView
from app.portal import portal_of

MAX_ID = 2**63 - 1
EntryId = Annotated[int, Path(ge=1, le=MAX_ID)]

router = APIRouter(prefix="/entries", tags=["entries"])


@router.get("/{entry_id}")
def get_entry(request: Request, entry_id: EntryId) -> EntryView:
    """One entry."""
    with portal_of(request).database.session() as session:
        return service.entry_view(session, entry_id)


@router.get("/{entry_id}/history")
def get_history(request: Request, entry_id: EntryId) -> HistoryView:
    """Every change of what the entry has on boards."""
    with portal_of(request).database.session() as session:
        return service.history_view(session, entry_id)
