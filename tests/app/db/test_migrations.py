"""Migrations go up, down and up again, and make exactly what the models say."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Engine, create_engine, inspect, text

from app.db.migrate import downgrade, upgrade
from app.models import Base
from local_stack.database import OWNER
from tests.factories.servers import DatabaseFactory

pytestmark = pytest.mark.database


@pytest.fixture
def empty(database_factory: DatabaseFactory) -> Iterator[str]:
    made = database_factory.create(migrated=False)
    yield made.url(OWNER)
    database_factory.drop(made)


def shape(engine: Engine) -> dict[str, object]:
    """Everything a migration makes: tables, columns, keys, indexes, checks, sequences and grants."""
    found: dict[str, object] = {}
    inspector = inspect(engine)
    for schema in ("public", "hidden"):
        for table in inspector.get_table_names(schema):
            found[f"{schema}.{table}"] = (
                [
                    (column["name"], str(column["type"]), column["nullable"])
                    for column in inspector.get_columns(table, schema)
                ],
                sorted(str(index["name"]) for index in inspector.get_indexes(table, schema)),
                sorted(str(check["name"]) for check in inspector.get_check_constraints(table, schema)),
            )
    with engine.connect() as connection:
        grants = text(
            "SELECT grantee, table_schema, table_name, privilege_type FROM information_schema.role_table_grants "
            "WHERE grantee IN ('hapboard_app', 'hapboard_worker')"
        )
        found["grants"] = sorted(tuple(row) for row in connection.execute(grants))
    return found


def test_up_down_up_is_clean(empty: str) -> None:
    engine = create_engine(empty)
    upgrade(empty)
    first = shape(engine)
    downgrade(empty)
    inspector = inspect(engine)
    assert inspector.get_table_names() == ["alembic_version"]
    assert "hidden" not in inspector.get_schema_names()
    assert inspector.get_sequence_names() == []
    upgrade(empty)
    assert shape(engine) == first
    assert len(first) > 20
    engine.dispose()


def test_models_and_migrations_agree(empty: str) -> None:
    upgrade(empty)
    engine = create_engine(empty)
    with engine.connect() as connection:
        options = {"include_schemas": True, "target_metadata": Base.metadata, "compare_type": True}
        differences = compare_metadata(MigrationContext.configure(connection, opts=options), Base.metadata)
        checks = text("SELECT conname FROM pg_constraint WHERE contype = 'c' AND conrelid = 'submissions'::regclass")
        names = {row[0] for row in connection.execute(checks)}
    engine.dispose()
    assert differences == []
    assert "ck_submissions_submission_status" in names
