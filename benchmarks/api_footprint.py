"""Memory of the portal's process: it loads neither torch nor numpy and stays small.

Starts a real PostgreSQL, a real broker and the API, asks for pages and API
answers, and reads the process's resident memory. Usage:

    python -m benchmarks.api_footprint [--requests 300]
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from app.db.migrate import upgrade
from benchmarks.support.figures import aim, finish
from local_stack import database, process
from local_stack.database import Database
from local_stack.keys import load_keys
from local_stack.layout import Layout
from local_stack.postgres import Postgres
from local_stack.programs import API_STOP, Programs, api_identity
from local_stack.valkey import Valkey

AIM_MIB = 120.0
PATHS = ("/", "/submit", "/queue", "/api/v1/boards", "/api/v1/operators", "/api/v1/openapi.json", "/healthz")
FOREIGN = ("torch", "numpy", "pandas")


@dataclass(frozen=True)
class Portal:
    """A running API process and its address."""

    pid: int
    address: str


def main() -> int:
    """Measure at rest and after requests."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=300)
    requests = parser.parse_args().requests
    with tempfile.TemporaryDirectory(prefix="hapboard-bench-") as folder, portal(Path(folder)) as api:
        at_rest = resident_mib(api.pid)
        statuses = ask(api.address, requests)
        busy = resident_mib(api.pid)
        foreign = [name for name in FOREIGN if maps_library(api.pid, name)]
    return finish(
        "api_footprint",
        {"resident_mib": aim(busy, AIM_MIB), "foreign_libraries": aim(len(foreign), 0)},
        at_rest_mib=round(at_rest, 1),
        after_requests_mib=round(busy, 1),
        requests=requests,
        statuses=statuses,
        foreign=foreign,
    )


@contextmanager
def portal(folder: Path) -> Iterator[Portal]:
    """The API with everything behind it but a worker."""
    layout = Layout(folder / "var")
    layout.storage.mkdir(parents=True)
    if identity := api_identity():
        os.chown(layout.storage, identity.uid, identity.gid)
    keys = load_keys(layout)
    postgres, valkey = Postgres(layout.postgres, keys.postgres, durable=False), Valkey(layout.valkey, keys.broker)
    try:
        postgres.start()
        valkey.start()
        database.create_roles(postgres, keys.roles)
        database.create_database(postgres, database.DATABASE)
        made = Database(postgres, keys.roles)
        upgrade(made.url(database.OWNER))
        program = Programs(layout, keys, made, valkey.url, process.free_port())
        started = process.start(program.api())
        try:
            process.await_ready(started, program.api(), lambda: answers(program.address), 60)
            yield Portal(started.pid, program.address)
        finally:
            process.stop(started, API_STOP)
    finally:
        valkey.stop()
        postgres.stop()


def ask(address: str, requests: int) -> dict[str, int]:
    """Ask for every path in turn; how often each status came."""
    statuses: dict[str, int] = {}
    with httpx.Client(base_url=address, timeout=30) as client:
        for number in range(requests):
            status = str(client.get(PATHS[number % len(PATHS)]).status_code)
            statuses[status] = statuses.get(status, 0) + 1
    return statuses


def answers(address: str) -> bool:
    """Whether the portal is ready."""
    try:
        return httpx.get(f"{address}/healthz", timeout=2).status_code == httpx.codes.OK
    except httpx.TransportError:
        return False


def resident_mib(pid: int) -> float:
    """Resident memory of a process in MiB."""
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"^VmRSS:\s+(\d+) kB", status, re.MULTILINE)
    if found is None:
        raise SystemExit(f"process {pid} has ended; its log says why")
    return int(found[1]) / 1024


def maps_library(pid: int, name: str) -> bool:
    """Whether the process has mapped a file of that package."""
    return f"/{name}/" in Path(f"/proc/{pid}/maps").read_text()


if __name__ == "__main__":
    sys.exit(main())
