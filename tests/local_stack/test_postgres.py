"""PostgreSQL from its wheel: starts, keeps data, survives a kill, keeps strangers out."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import psycopg
import pytest

from local_stack.postgres import Postgres

pytestmark = pytest.mark.database


@pytest.fixture
def server(tmp_path: Path) -> Postgres:
    return Postgres(tmp_path / "postgres", "plain-word")


def rows(server: Postgres) -> int:
    with psycopg.connect(server.url()) as connection:
        found = connection.execute("SELECT count(*) FROM kept").fetchone()
    assert found is not None
    return int(found[0])


def add_row(server: Postgres) -> None:
    with psycopg.connect(server.url()) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS kept (number int)")
        connection.execute("INSERT INTO kept VALUES (1)")


def test_keeps_data_over_a_clean_stop_and_over_a_kill(server: Postgres) -> None:
    server.start()
    try:
        add_row(server)
        server.stop()
        assert not server.running()
        server.start()
        add_row(server)
        assert server.pid is not None
        os.kill(server.pid, signal.SIGKILL)
        server.stop()
        server.start()
        assert rows(server) == 2
    finally:
        server.stop()


def test_refuses_a_wrong_password(server: Postgres) -> None:
    server.start()
    try:
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            psycopg.connect(server.url(password="another"))
    finally:
        server.stop()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a server another user")
def test_runs_as_another_user_below_a_closed_folder(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    server = Postgres(closed / "deep" / "postgres", "plain-word")
    server.start()
    try:
        assert Path(f"/proc/{server.pid}").stat().st_uid != 0
        add_row(server)
        assert closed.stat().st_mode & 0o777 == 0o700
    finally:
        server.stop()
