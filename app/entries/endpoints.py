"""`/entries`."""

from __future__ import annotations

from fastapi import APIRouter, Request

from app.entries import service
from app.entries.schemas import EntryView
from app.portal import portal_of

router = APIRouter(prefix="/entries", tags=["entries"])


@router.get("/{entry_id}")
def get_entry(request: Request, entry_id: int) -> EntryView:
    """One entry."""
    with portal_of(request).database.session() as session:
        return service.entry_view(session, entry_id)
