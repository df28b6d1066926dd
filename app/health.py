"""`/healthz`: whether this process can serve."""

from __future__ import annotations

from fastapi import APIRouter, Request
from pydantic import BaseModel
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from app.errors import PortalError
from app.portal import portal_of
from kernel_eval import __version__

router = APIRouter(tags=["health"])


class Health(BaseModel):
    """Everything this process needs is there."""

    status: str
    version: str


class DatabaseAway(PortalError):
    """The database does not answer."""

    status, slug, title = 503, "database-away", "Not ready"


@router.get("/healthz")
def get_health(request: Request) -> Health:
    """200 when the database answers, else 503. The broker may be away: submissions wait in the outbox."""
    try:
        with portal_of(request).database.session() as session:
            session.execute(text("SELECT 1"))
    except SQLAlchemyError as error:
        raise DatabaseAway("The database does not answer. Try again in a minute.") from error
    return Health(status="ok", version=__version__)
