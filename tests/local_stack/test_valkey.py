"""Valkey from its wheel: asks for its password, keeps what was written, survives a kill."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from local_stack.valkey import Valkey

pytestmark = pytest.mark.queue


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Valkey]:
    server = Valkey(tmp_path / "valkey", "plain-word")
    server.start()
    yield server
    server.stop()


def test_keeps_what_was_written_over_a_kill(server: Valkey) -> None:
    with redis.Redis.from_url(server.url) as client:
        client.set("kept", "yes")
    time.sleep(1.2)
    assert server.pid is not None
    os.kill(server.pid, signal.SIGKILL)
    server.stop()
    server.start()
    with redis.Redis.from_url(server.url) as client:
        assert client.get("kept") == b"yes"


def test_refuses_clients_without_password(server: Valkey) -> None:
    once = Retry(NoBackoff(), retries=0)
    with redis.Redis(port=server.port, retry=once) as client, pytest.raises(redis.AuthenticationError):
        client.ping()


def test_the_password_stands_in_no_process_list(server: Valkey) -> None:
    command_line = Path(f"/proc/{server.pid}/cmdline").read_bytes()
    assert b"plain-word" not in command_line
    assert (server.folder / "valkey.conf").stat().st_mode & 0o077 == 0
