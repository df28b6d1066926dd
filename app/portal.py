"""What every endpoint works with, made once per process and handed on by the app's state."""

from __future__ import annotations

from dataclasses import dataclass, field

from anyio import CapacityLimiter
from fastapi import FastAPI
from starlette.requests import HTTPConnection

from app.auth.cookie import CookieSigner
from app.db.session import Database
from app.settings import AppSettings
from app.storage import FileStore
from app.submissions.feed import Feed

ARCHIVES_AT_ONCE = 2


@dataclass(frozen=True)
class Portal:
    """The parts of a running portal."""

    settings: AppSettings
    database: Database
    store: FileStore
    feed: Feed
    signer: CookieSigner
    judging: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(ARCHIVES_AT_ONCE))
    """Whoever judges an archive has one of its places, for each may take some MiB while it is unpacked."""


def portal_of(connection: HTTPConnection) -> Portal:
    """The portal that serves this request."""
    app: FastAPI = connection.app
    portal: Portal = app.state.portal
    return portal
