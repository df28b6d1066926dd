"""`/workers`."""

from __future__ import annotations

from datetime import UTC, datetime

from fastapi import APIRouter, Request

from app.portal import portal_of
from app.workers import service
from app.workers.schemas import WorkersView

router = APIRouter(prefix="/workers", tags=["queue"])


@router.get("")
def list_workers(request: Request) -> WorkersView:
    """Evaluation hosts and when they were last heard of."""
    with portal_of(request).database.session() as session:
        return service.workers_view(session, datetime.now(UTC))
