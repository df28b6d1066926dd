"""The project's own processes, each with exactly the environment, user and folders it needs."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

from local_stack import database
from local_stack.database import Database
from local_stack.keys import Keys
from local_stack.layout import PROJECT, Layout
from local_stack.process import Program
from local_stack.reach import Identity

API_IDENTITY = Identity(uid=61101, gid=61101)
"""An id of no account: the portal owns its uploads and can read nothing of the worker's."""
API_MEMORY = {"MALLOC_ARENA_MAX": "2", "MALLOC_MMAP_THRESHOLD_": "131072", "MALLOC_TRIM_THRESHOLD_": "131072"}
"""Threads that take uploads share their free memory and give it back: left alone, the allocator learns from the first
large piece to keep tens of MiB for the next one."""
API_OPTIONS = ("--no-access-log", "--log-level", "warning", "--timeout-graceful-shutdown", "3")
"""Requests are logged by the portal itself; those that are open when it stops have 3 s."""
PASSED_ON = ("PATH", "HAPBOARD_BENCH_DATA", "TZ")
API_STOP = ((signal.SIGTERM, 5.0),)
WORKER_STOP = ((signal.SIGTERM, 20.0), (signal.SIGQUIT, 3.0))
SWEEPER_STOP = ((signal.SIGTERM, 5.0),)


@dataclass(frozen=True)
class Programs:
    """Makes the programs of one stack; `address` is the portal's public address."""

    layout: Layout
    keys: Keys
    database: Database
    broker_url: str
    api_port: int

    @property
    def address(self) -> str:
        """Where the portal answers."""
        return f"http://127.0.0.1:{self.api_port}"

    def api(self) -> Program:
        """The portal: as an unprivileged user where we are root."""
        listen = ("--host", "127.0.0.1", "--port", str(self.api_port))
        return Program(
            name="api",
            argv=[sys.executable, "-m", "uvicorn", "--factory", "app.main:create_app", *listen, *API_OPTIONS],
            log=self.layout.log("api"),
            env=_environment()
            | self._shared(database.APP)
            | {"HAPBOARD_SECRET_KEY": self.keys.secret_key, "HAPBOARD_PUBLIC_URL": self.address}
            | API_MEMORY,
            identity=api_identity(),
            needs=[*code_folders(), self.layout.storage],
            cwd=PROJECT,
        )

    def worker(self, *command: str) -> Program:
        """One of the worker's commands: as ourselves, because judging needs our rights."""
        return Program(
            name=f"worker {' '.join(command)}".strip(),
            argv=[sys.executable, "-m", "worker", *command],
            log=self.layout.log("worker"),
            env=_environment()
            | self._shared(database.WORKER)
            | self._worker_settings()
            | {"OMP_WAIT_POLICY": "passive"},
            cwd=PROJECT,
        )

    def sweeper(self) -> Program:
        """The sweeper, with the worker's rights in the database."""
        return Program(
            name="sweeper",
            argv=[sys.executable, "-m", "worker.sweep"],
            log=self.layout.log("sweeper"),
            env=_environment() | self._shared(database.WORKER) | self._worker_settings(),
            cwd=PROJECT,
        )

    def _shared(self, role: str) -> dict[str, str]:
        return {
            "HAPBOARD_DATABASE_URL": self.database.url(role),
            "HAPBOARD_BROKER_URL": self.broker_url,
            "HAPBOARD_STORAGE_DIR": str(self.layout.storage),
        }

    def _worker_settings(self) -> dict[str, str]:
        chosen = {name: value for name, value in os.environ.items() if name.startswith("HAPBOARD_WORKER_")}
        settings = {
            "HAPBOARD_WORKER_DIR": str(self.layout.worker),
            "HAPBOARD_WORKER_SEASON_SECRET": str(self.layout.season_secret),
        }
        if not self.layout.is_default:
            settings["HAPBOARD_WORKER_HIDDEN_DIR"] = str(self.layout.worker / "hidden")
        return settings | chosen


def api_identity() -> Identity | None:
    """Who runs the portal: another user where we are root, else ourselves."""
    return API_IDENTITY if os.geteuid() == 0 else None


def code_folders() -> list[Path]:
    """Where the interpreter, its packages and this project lie."""
    return [PROJECT, Path(sys.prefix), Path(sys.base_prefix)]


def _environment() -> dict[str, str]:
    passed_on = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    return {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "LC_ALL": "C.UTF-8", "PYTHONUNBUFFERED": "1"} | passed_on
