"""A running portal with a filled board, for tests of pages and browsers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from pydantic import SecretStr

from app.db.session import Database, make_engine
from app.main import create_app
from app.settings import AppSettings
from local_stack.database import APP, OWNER, WORKER
from tests.app.conftest import MAX_UPLOAD_BYTES, Stage
from tests.factories import portal_data
from tests.factories.servers import DatabaseFactory
from tests.factories.serving import serving


@contextmanager
def filled_portal(databases: DatabaseFactory, broker_url: str, storage: Path) -> Iterator[Stage]:
    """All usual entrants published, one submission running (number 41) and one queued (number 42)."""
    database = databases.create()
    owner, app, worker = (Database(make_engine(database.url(role))) for role in (OWNER, APP, WORKER))
    settings = AppSettings(
        database_url=database.url(APP),
        broker_url=broker_url,
        storage_dir=storage,
        secret_key=SecretStr("a secret of the tests, long enough to be one"),
        max_upload_bytes=MAX_UPLOAD_BYTES,
        public_url="http://board.example",
    )
    _fill(owner, storage)
    with serving(create_app(settings)) as address, httpx.Client(base_url=address, timeout=30) as http:
        yield Stage(http, owner, app, worker, settings)
    for used in (owner, app, worker):
        used.engine.dispose()
    databases.drop(database)


def _fill(owner: Database, storage: Path) -> None:
    suite = portal_data.small_suite()
    entrants = portal_data.usual_entrants(suite)
    with owner.session() as session:
        board = portal_data.add_board(session, suite, storage)
        portal_data.fill(session, board, suite)
        portal_data.add_submission(session, board, entrants[1], 41, portal_data.START)
        portal_data.start(session, board, portal_data.START, cases_done=96)
        portal_data.add_submission(session, board, entrants[2], 42, portal_data.START, note="A wider <tile>.")
