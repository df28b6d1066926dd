"""Fixtures that every part of the project may use."""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from local_stack.database import APP, OWNER, WORKER, Database
from local_stack.postgres import Postgres
from local_stack.valkey import Valkey
from tests.factories.servers import DatabaseFactory, start_postgres


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    """A running PostgreSQL, one per test process."""
    server = start_postgres(tmp_path_factory.mktemp("postgres"))
    yield server
    server.stop()


@pytest.fixture(scope="session")
def database_factory(postgres_server: Postgres) -> DatabaseFactory:
    """Makes migrated databases on the session's server."""
    return DatabaseFactory(postgres_server)


@pytest.fixture(scope="module")
def database(database_factory: DatabaseFactory) -> Iterator[Database]:
    """A fresh migrated database for this test module."""
    made = database_factory.create()
    yield made
    database_factory.drop(made)


@pytest.fixture(scope="module")
def database_url(database: Database) -> str:
    """The module's database as its owner, as SQLAlchemy addresses it."""
    return database.url(OWNER)


@pytest.fixture(scope="module")
def app_database_url(database: Database) -> str:
    """The module's database as the portal's role."""
    return database.url(APP)


@pytest.fixture(scope="module")
def worker_database_url(database: Database) -> str:
    """The module's database as the worker's role."""
    return database.url(WORKER)


@pytest.fixture(scope="session")
def valkey_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Valkey]:
    """A running Valkey, one per test process."""
    server = Valkey(tmp_path_factory.mktemp("valkey"), secrets.token_hex(12))
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def broker_numbers() -> Iterator[int]:
    """Numbers of the broker's sixteen databases, in turn."""
    return itertools.cycle(range(16))


@pytest.fixture(scope="module")
def broker_url(valkey_server: Valkey, broker_numbers: Iterator[int]) -> str:
    """An emptied database of the session's broker for this test module."""
    url = valkey_server.url.removesuffix("/0") + f"/{next(broker_numbers)}"
    with redis.Redis.from_url(url) as client:
        client.flushdb()
    return url


@pytest.fixture(scope="session")
def project() -> Path:
    """The root of the work tree."""
    return Path(__file__).resolve().parents[1]
