"""One portal for all pages' tests, with a filled board, and its readers."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from pydantic import SecretStr

from app.db.session import Database, make_engine
from app.main import create_app
from app.settings import AppSettings
from local_stack.database import APP, OWNER, WORKER
from local_stack.valkey import Valkey
from tests.app.conftest import MAX_UPLOAD_BYTES, Stage
from tests.factories import portal_data
from tests.factories.servers import DatabaseFactory
from tests.factories.serving import serving


@pytest.fixture(scope="session")
def filled(
    database_factory: DatabaseFactory, valkey_server: Valkey, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stage]:
    """A running portal with all usual entrants published, one submission running and one queued."""
    database = database_factory.create()
    owner, app, worker = (Database(make_engine(database.url(role))) for role in (OWNER, APP, WORKER))
    settings = AppSettings(
        database_url=database.url(APP),
        broker_url=valkey_server.url,
        storage_dir=tmp_path_factory.mktemp("storage"),
        secret_key=SecretStr("a secret of the tests, long enough to be one"),
        max_upload_bytes=MAX_UPLOAD_BYTES,
        public_url="http://board.example",
    )
    with owner.session() as session:
        suite = portal_data.small_suite()
        board = portal_data.add_board(session, suite, settings.storage_dir)
        portal_data.fill(session, board, suite)
        entrants = portal_data.usual_entrants(suite)
        portal_data.add_submission(session, board, entrants[1], 41, portal_data.START)
        portal_data.start(session, board, portal_data.START, cases_done=96)
        portal_data.add_submission(session, board, entrants[2], 42, portal_data.START, note="A wider <tile>.")
    with serving(create_app(settings)) as address, httpx.Client(base_url=address, timeout=30) as http:
        yield Stage(http, owner, app, worker, settings)
    for used in (owner, app, worker):
        used.engine.dispose()
    database_factory.drop(database)


@pytest.fixture
def reader(filled: Stage) -> Iterator[httpx.Client]:
    """Somebody who only reads."""
    with httpx.Client(base_url=filled.http.base_url, headers={"Accept": "text/html"}, timeout=30) as client:
        yield client


@pytest.fixture
def submitter(filled: Stage) -> Iterator[httpx.Client]:
    """Ada, signed in by her token."""
    headers = {"Accept": "text/html"}
    with httpx.Client(base_url=filled.http.base_url, headers=headers, timeout=30, follow_redirects=True) as client:
        client.post("/sign-in", data={"token": filled.token("ada"), "next": "/queue"})
        yield client
