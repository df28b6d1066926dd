"""Starts the parts in order, each once the last one answers; watches them; stops them backwards."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import httpx

from app.db.migrate import upgrade
from local_stack import database, process
from local_stack.console import Screen
from local_stack.database import Database
from local_stack.keys import Keys, load_keys
from local_stack.layout import Layout
from local_stack.postgres import Postgres
from local_stack.process import Program, StackError
from local_stack.programs import API_STOP, SWEEPER_STOP, WORKER_STOP, Programs, api_identity
from local_stack.state import State, load_state, save_state, start_ticks
from local_stack.valkey import Valkey

READY_S = 60.0
POLL_S = 0.2
PREPARE_S = 600.0
EXIT_INCOMPLETE = 3
RESTARTS = 5
"""How often a part that dies is started again before the stack gives up."""
ONE_USER = (
    "Without root all parts run as your user: the portal is kept from the worker's secrets by nothing but its code "
    "(docs/spec/isolation.md); for other people's submissions run `make up` as root"
)


class SandboxMissing(StackError):
    """This host can't judge; the message names the missing part and its fix."""


@dataclass
class Part:
    """A running process of ours, with how to start and stop it."""

    program: Program
    stop_signals: Sequence[tuple[int, float]]
    process: subprocess.Popen[bytes]
    restarts: int = 0


@dataclass
class Stack:
    """The parts of one stack. `start` and `stop` may be called once each."""

    layout: Layout
    screen: Screen
    keys: Keys
    postgres: Postgres
    valkey: Valkey
    parts: dict[str, Part] = field(default_factory=dict)
    programs: Programs | None = None
    board: str = ""

    def start(self) -> Programs:
        """Starts everything; `StackError` names the part that did not start."""
        if os.geteuid():
            self.screen.say(f"[yellow]  ![/] {ONE_USER}")
        ports = load_state(self.layout).ports
        self._start_servers(ports)
        self._migrate()
        programs = self._programs(ports)
        self._start_portal(programs)
        with self.screen.step("Worker and sweeper") as step:
            began = datetime.now(UTC)
            self._start_part("worker", programs.worker("run"), WORKER_STOP)
            self._start_part("sweeper", programs.sweeper(), SWEEPER_STOP)
            self._await("worker", lambda: worker_is_up(programs.address, began))
            step.detail = f"self-test passed, {os.cpu_count()} cores"
        self.save()
        return programs

    def stop(self) -> None:
        """Stops everything, last started first."""
        for name in ("sweeper", "worker", "api"):
            part = self.parts.pop(name, None)
            if part is not None:
                process.stop(part.process, part.stop_signals)
        self.valkey.stop()
        self.postgres.stop()
        save_state(self.layout, replace(self._state(), supervisor=0, started_ticks=0, pids={}, ready=False))

    def tend(self) -> None:
        """Starts again what has died; `StackError` where it dies again and again."""
        if not self.postgres.running():
            self.postgres.stop()
            self.postgres.start(self.postgres.port)
        if not self.valkey.running():
            self.valkey.stop()
            self.valkey.start(self.valkey.port)
        for name, part in self.parts.items():
            if part.process.poll() is not None:
                self._start_again(name, part)

    def save(self) -> None:
        """Writes the state file: everything is ready."""
        save_state(self.layout, replace(self._state(), ready=True))

    def _start_servers(self, ports: dict[str, int]) -> None:
        with self.screen.step("PostgreSQL") as step:
            self.postgres.start(ports.get("postgres"))
            step.detail = f"127.0.0.1:{self.postgres.port}"
        with self.screen.step("Valkey") as step:
            self.valkey.start(ports.get("valkey"))
            step.detail = f"127.0.0.1:{self.valkey.port}"
        save_state(self.layout, self._state())

    def _migrate(self) -> None:
        with self.screen.step("Database"):
            database.create_roles(self.postgres, self.keys.roles)
            database.create_database(self.postgres, database.DATABASE)
            upgrade(self._database().url(database.OWNER))

    def _programs(self, ports: dict[str, int]) -> Programs:
        self.layout.storage.mkdir(exist_ok=True)
        if identity := api_identity():
            os.chown(self.layout.storage, identity.uid, identity.gid)
        port = process.free_port(ports.get("api"))
        self.programs = Programs(self.layout, self.keys, self._database(), self.valkey.url, port)
        return self.programs

    def _start_portal(self, programs: Programs) -> None:
        """The API and what its boards stand on. Hidden cases are generated and the machine is probed the first time."""
        self._start_part("api", programs.api(), API_STOP)
        self.layout.worker.mkdir(exist_ok=True, mode=0o700)
        first = not any(self.layout.worker.glob("peaks-*.json"))
        if first:
            self._worker_step("Hidden cases", programs.worker("hidden"))
        with self.screen.step("API") as step:
            self._await("api", lambda: _answers(programs.address))
            step.detail = programs.address
        if first:  # not before, for whatever else is starting slows the machine down
            self._worker_step("Peaks of this machine", programs.worker("probe"))
        self.board = self._worker_step("Suite and board", programs.worker("register"))

    def _worker_step(self, title: str, program: Program) -> str:
        with self.screen.step(title) as step:
            step.detail = process.output(program, PREPARE_S)
        return step.detail

    def _start_part(self, name: str, program: Program, stop_signals: Sequence[tuple[int, float]]) -> None:
        self.parts[name] = Part(program, stop_signals, process.start(program))
        save_state(self.layout, self._state())

    def _start_again(self, name: str, part: Part) -> None:
        if part.process.returncode == EXIT_INCOMPLETE and self.programs is not None:
            raise SandboxMissing(worker_message(self.programs.address))
        if part.restarts >= RESTARTS:
            raise StackError(f"{name} died {RESTARTS + 1} times: {process.last_lines(part.program.log)}")
        process.kill_group(part.process)
        self.screen.say(f"[yellow]  ![/] {name} ended with {part.process.returncode}; starting it again")
        part.process = process.start(part.program)
        part.restarts += 1
        self.save()

    def _await(self, name: str, ready: Callable[[], bool]) -> None:
        part = self.parts[name]
        try:
            process.await_ready(part.process, part.program, ready, READY_S, POLL_S)
        except StackError:
            if part.process.poll() == EXIT_INCOMPLETE and self.programs is not None:
                raise SandboxMissing(worker_message(self.programs.address)) from None
            raise

    def _database(self) -> Database:
        return Database(self.postgres, self.keys.roles)

    def _state(self) -> State:
        ports = {"postgres": self.postgres.port, "valkey": self.valkey.port}
        pids = {name: part.process.pid for name, part in self.parts.items()}
        servers = {"postgres": self.postgres.pid, "valkey": self.valkey.pid}
        pids |= {name: pid for name, pid in servers.items() if pid is not None}
        if self.programs is not None:
            ports["api"] = self.programs.api_port
        address = self.programs.address if self.programs is not None else ""
        return State(os.getpid(), start_ticks(os.getpid()) or 0, ports, pids, address, self.board)


def make_stack(layout: Layout, screen: Screen) -> Stack:
    """A stack on `layout`, not started yet."""
    layout.var.mkdir(parents=True, exist_ok=True)
    keys = load_keys(layout)
    return Stack(layout, screen, keys, Postgres(layout.postgres, keys.postgres), Valkey(layout.valkey, keys.broker))


def stop_other(layout: Layout, seconds: float = 60.0) -> bool:
    """Asks the running stack to stop and waits for it; False where none runs."""
    state = load_state(layout)
    if not state.running:
        return False
    with contextlib.suppress(ProcessLookupError):
        os.kill(state.supervisor, 15)
    deadline = time.monotonic() + seconds
    while state.running:
        if time.monotonic() > deadline:
            raise StackError(f"the stack (process {state.supervisor}) did not stop within {seconds:.0f} s")
        time.sleep(0.05)
    return True


def worker_is_up(address: str, since: datetime) -> bool:
    """Whether a worker that started after `since` takes leases, as the portal sees it."""
    workers = _workers(address)
    return any(worker["state"] == "up" and datetime.fromisoformat(worker["started_at"]) >= since for worker in workers)


def worker_message(address: str) -> str:
    """What a worker that is down says of itself."""
    down = [worker["message"] for worker in _workers(address) if worker["state"] == "down" and worker["message"]]
    return "\n".join(down) or "the sandbox is incomplete; the worker's log says more"


def _workers(address: str) -> list[dict[str, str]]:
    try:
        answer = httpx.get(f"{address}/api/v1/workers", timeout=5)
        answer.raise_for_status()
    except httpx.HTTPError:
        return []
    found: list[dict[str, str]] = answer.json()["workers"]
    return found


def _answers(address: str) -> bool:
    try:
        return httpx.get(f"{address}/healthz", timeout=2).status_code == httpx.codes.OK
    except httpx.TransportError:
        return False
