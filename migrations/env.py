"""Alembic's entry: migrates the database that the config's `sqlalchemy.url` (or HAPBOARD_DATABASE_URL) names."""

from __future__ import annotations

import os

from alembic import context
from sqlalchemy import create_engine, pool

from app.models import Base


def _url() -> str:
    url = context.config.get_main_option("sqlalchemy.url") or os.environ.get("HAPBOARD_DATABASE_URL")
    if not url:
        raise SystemExit("HAPBOARD_DATABASE_URL is not set: name the database, postgresql+psycopg://owner@host/name")
    return url


def run() -> None:
    """Run the migrations online, all of them in one transaction."""
    engine = create_engine(_url(), poolclass=pool.NullPool)
    with engine.connect() as connection:
        context.configure(connection=connection, target_metadata=Base.metadata, include_schemas=True)
        with context.begin_transaction():
            context.run_migrations()
    engine.dispose()


run()
