"""What each database role may do. Hidden rows are for the worker alone."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine, select, text
from sqlalchemy.exc import ProgrammingError

from app.models import HIDDEN_SCHEMA, Base
from tests.app.conftest import Engines

pytestmark = pytest.mark.database

HIDDEN = [table for table in Base.metadata.sorted_tables if table.schema == HIDDEN_SCHEMA]
SECRETS = ["users", "tokens"]
JUDGED = ["operator_results", "case_results", "flags", "standings", "standing_events", "suites", "operators", "boards"]


@pytest.fixture(scope="module")
def app(app_database_url: str, engines: Engines) -> Engine:
    return engines(app_database_url)


@pytest.fixture(scope="module")
def worker(worker_database_url: str, engines: Engines) -> Engine:
    return engines(worker_database_url)


def refused(engine: Engine, statement: str) -> bool:
    """Whether the role may not run the statement; any other error goes through."""
    with engine.connect() as connection:
        try:
            connection.execute(text(statement))
        except ProgrammingError as error:
            if "permission denied" not in str(error):
                raise
            return True
    return False


def test_there_are_hidden_tables() -> None:
    assert {table.name for table in HIDDEN} == {"case_results", "anchor_rows"}


@pytest.mark.parametrize("table", HIDDEN, ids=str)
def test_the_app_can_do_nothing_with_hidden_tables(app: Engine, table: object) -> None:
    for statement in ("SELECT * FROM {}", "SELECT count(*) FROM {}", "DELETE FROM {}", "INSERT INTO {} DEFAULT VALUES"):
        assert refused(app, statement.format(table))
    assert refused(app, "CREATE TABLE hidden.mine (x int)")


@pytest.mark.parametrize("table", HIDDEN, ids=str)
def test_the_worker_can_read_and_write_hidden_tables(worker: Engine, table: object) -> None:
    assert not refused(worker, f"SELECT * FROM {table}")
    assert not refused(worker, f"DELETE FROM {table}")


@pytest.mark.parametrize("table", SECRETS)
def test_the_worker_sees_no_users_and_no_tokens(worker: Engine, table: str) -> None:
    assert refused(worker, f"SELECT * FROM {table}")


@pytest.mark.parametrize("table", JUDGED)
def test_the_app_reads_but_never_writes_what_is_judged(app: Engine, table: str) -> None:
    assert not refused(app, f"SELECT * FROM {table}")
    assert refused(app, f"DELETE FROM {table}")
    assert refused(app, f"INSERT INTO {table} DEFAULT VALUES")


def test_history_is_append_only_for_both(app: Engine, worker: Engine) -> None:
    for table in ("standing_events", "submission_events"):
        for engine in (app, worker):
            assert refused(engine, f"DELETE FROM {table}")
            assert refused(engine, f"UPDATE {table} SET id = id")


def test_the_app_reads_every_public_table(app: Engine) -> None:
    with app.connect() as connection:
        for table in Base.metadata.sorted_tables:
            if table.schema is None:
                connection.execute(select(table).limit(1))
