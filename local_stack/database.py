"""Roles and databases of HapBoard on a PostgreSQL server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import psycopg
from psycopg import sql

from local_stack.postgres import Postgres

OWNER = "hapboard_owner"
APP = "hapboard_app"
WORKER = "hapboard_worker"
ROLES = (OWNER, APP, WORKER)
DATABASE = "hapboard"


@dataclass(frozen=True)
class Database:
    """One database on a running server; gives each role its address."""

    server: Postgres
    passwords: Mapping[str, str]
    name: str = DATABASE

    def url(self, role: str) -> str:
        """SQLAlchemy's address of this database as `role`."""
        plain = self.server.url(self.name, role, self.passwords[role])
        return plain.replace("postgresql://", "postgresql+psycopg://", 1)


def create_roles(server: Postgres, passwords: Mapping[str, str]) -> None:
    """Creates the three roles, or gives existing ones their password again.

    The owner may create roles, because the migrations make sure that the other two exist.
    """
    with psycopg.connect(server.url(), autocommit=True) as connection:
        known = {name for (name,) in connection.execute("SELECT rolname FROM pg_roles")}
        for role in ROLES:
            verb = sql.SQL("ALTER" if role in known else "CREATE")
            rights = sql.SQL("LOGIN CREATEROLE" if role == OWNER else "LOGIN")
            connection.execute(
                sql.SQL("{} ROLE {} {} PASSWORD {}").format(
                    verb, sql.Identifier(role), rights, sql.Literal(passwords[role])
                )
            )


def create_database(server: Postgres, name: str, template: str = "template0") -> None:
    """Creates the database with the owner role as its owner, unless it exists."""
    with psycopg.connect(server.url(), autocommit=True) as connection:
        if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone():
            return
        connection.execute(
            sql.SQL("CREATE DATABASE {} OWNER {} TEMPLATE {}").format(
                sql.Identifier(name), sql.Identifier(OWNER), sql.Identifier(template)
            )
        )
        connection.execute(sql.SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(sql.Identifier(name)))
        for role in (APP, WORKER):
            connection.execute(
                sql.SQL("GRANT CONNECT ON DATABASE {} TO {}").format(sql.Identifier(name), sql.Identifier(role))
            )


def drop_database(server: Postgres, name: str) -> None:
    """Drops the database, ending the sessions on it."""
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
