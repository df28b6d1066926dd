"""Memory of the portal's process: it loads neither torch nor numpy and stays small.

Starts a real PostgreSQL, a real broker and the API, asks for pages and API
answers, hands in what must be refused (an upload far too large, decompression
bombs), and reads the process's resident memory. Usage:

    python -m benchmarks.api_footprint [--requests 300]
"""

from __future__ import annotations

import argparse
import gzip
import io
import itertools
import lzma
import os
import re
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from app.db.migrate import upgrade
from benchmarks.support.figures import aim, finish
from local_stack import database, process
from local_stack.database import Database
from local_stack.example import ensure_token
from local_stack.keys import load_keys
from local_stack.layout import Layout
from local_stack.postgres import Postgres
from local_stack.programs import API_STOP, Programs, api_identity
from local_stack.valkey import Valkey

AIM_MIB = 120.0
PATHS = ("/", "/submit", "/queue", "/api/v1/boards", "/api/v1/operators", "/api/v1/openapi.json", "/healthz")
LARGE_BYTES = 400 << 20
BOMB_BYTES = 40 << 20
FOREIGN = ("torch", "numpy", "pandas")


@dataclass(frozen=True)
class Portal:
    """A running API process and its address."""

    pid: int
    address: str
    token: str


def main() -> int:
    """Measure at rest and after requests."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=300)
    requests = parser.parse_args().requests
    with tempfile.TemporaryDirectory(prefix="hapboard-bench-") as folder, portal(Path(folder)) as api:
        at_rest = resident_mib(api.pid)
        statuses = ask(api.address, requests)
        busy = resident_mib(api.pid)
        refused = hand_in_bad(api)
        after_refusals = resident_mib(api.pid)
        foreign = [name for name in FOREIGN if maps_library(api.pid, name)]
    return finish(
        "api_footprint",
        {"resident_mib": aim(max(busy, after_refusals), AIM_MIB), "foreign_libraries": aim(len(foreign), 0)},
        at_rest_mib=round(at_rest, 1),
        after_requests_mib=round(busy, 1),
        after_refusals_mib=round(after_refusals, 1),
        refused=refused,
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
            yield Portal(started.pid, program.address, ensure_token(layout, program))
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


def hand_in_bad(api: Portal) -> dict[str, int]:
    """Hand in an endless file without an announced length, then bombs, several at once; how often each status came."""
    headers = {"Authorization": f"Bearer {api.token}"}
    address = f"{api.address}/api/v1/submissions"
    zeros = io.BytesIO()
    with tarfile.open(fileobj=zeros, mode="w") as archive:
        entry = tarfile.TarInfo("build.sh")
        entry.size = BOMB_BYTES
        archive.addfile(entry, io.BytesIO(bytes(BOMB_BYTES)))
    bombs = [("x.tar.gz", gzip.compress(zeros.getvalue(), 1)), ("x.tar.xz", lzma.compress(zeros.getvalue(), preset=0))]

    def bomb(number: int) -> int:
        return httpx.post(address, files={"file": bombs[number % 2]}, headers=headers, timeout=60).status_code

    form = {**headers, "Content-Type": "multipart/form-data; boundary=b"}
    start = b'--b\r\nContent-Disposition: form-data; name="file"; filename="x.tar"\r\n\r\n'
    pieces = itertools.chain([start], itertools.repeat(bytes(1 << 20), LARGE_BYTES >> 20))
    seen = [httpx.post(address, content=pieces, headers=form, timeout=60).status_code]
    with ThreadPoolExecutor(8) as pool:
        seen += pool.map(bomb, range(20))
    return {str(status): seen.count(status) for status in sorted(set(seen))}


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
