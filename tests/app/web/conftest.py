"""One portal for all pages' tests, with a filled board, and its readers."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from local_stack.valkey import Valkey
from tests.app.conftest import Stage
from tests.factories.filled_portal import filled_portal
from tests.factories.servers import DatabaseFactory


@pytest.fixture(scope="session")
def filled(
    database_factory: DatabaseFactory, valkey_server: Valkey, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stage]:
    """A running portal with a filled board."""
    with filled_portal(database_factory, valkey_server.url, tmp_path_factory.mktemp("storage")) as portal:
        yield portal


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
