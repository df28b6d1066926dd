"""Real servers for tests: one PostgreSQL and one Valkey per test process, many databases."""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from app.db.migrate import upgrade
from local_stack import database
from local_stack.database import Database
from local_stack.postgres import Postgres

TEMPLATE = "hapboard_template"


@dataclass
class DatabaseFactory:
    """Makes fresh, fully migrated databases by copying a template that was migrated once."""

    server: Postgres
    passwords: dict[str, str] = field(default_factory=lambda: {role: secrets.token_hex(12) for role in database.ROLES})
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    _migrated: bool = False

    def create(self, *, migrated: bool = True) -> Database:
        """A new database; `migrated` False leaves it empty."""
        self._ensure_template()
        name = f"hapboard_test_{next(self._numbers)}"
        database.create_database(self.server, name, TEMPLATE if migrated else "template0")
        return Database(self.server, self.passwords, name)

    def drop(self, made: Database) -> None:
        """Drops what `create` made, ending sessions that are still open."""
        database.drop_database(self.server, made.name)

    def _ensure_template(self) -> None:
        if self._migrated:
            return
        database.create_roles(self.server, self.passwords)
        database.create_database(self.server, TEMPLATE)
        upgrade(Database(self.server, self.passwords, TEMPLATE).url(database.OWNER))
        self._migrated = True


def start_postgres(folder: Path) -> Postgres:
    """A server that trades durability for speed."""
    server = Postgres(folder, secrets.token_hex(12), durable=False)
    server.start()
    return server
