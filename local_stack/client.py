"""Submits the example over HTTP, as anybody would, and waits for its result."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from local_stack.process import StackError

JUDGING_S = 3600.0
POLL_S = 5
PATIENCE_S = 30.0
AGENT = {"agent": "hapboard-example", "model": "handwritten", "harness": "none", "dsl": "cpp"}


@dataclass(frozen=True)
class Client:
    """Talks to the portal at `address` with a bearer token."""

    address: str
    token: str

    def submit(self, folder: Path, board: str, key: str) -> str:
        """Packs and uploads `folder`; the public id. The same `key` never submits twice."""
        answer = self._call(
            "POST",
            "/submissions",
            files={"file": (f"{folder.name}.tar.gz", packed(folder), "application/gzip")},
            data={"board": board, "note": "The example that comes with HapBoard.", **AGENT},
            headers={"Idempotency-Key": key},
        )
        return str(answer["id"])

    def submission(self, public_id: str, wait_s: int = 0) -> dict[str, Any]:
        """The submission as it is; with `wait_s` only once something has changed, or the time is up."""
        query = f"?wait={wait_s}" if wait_s else ""
        return self._call("GET", f"/submissions/{public_id}{query}")

    def result(self, public_id: str) -> dict[str, Any]:
        """The submission's result."""
        return self._call("GET", f"/results/{public_id}")

    def await_settled(self, public_id: str, tell: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
        """Waits until nothing more will happen; `tell` gets every state in between."""
        deadline = time.monotonic() + JUDGING_S
        while True:
            seen = self.submission(public_id, POLL_S)
            tell(seen)
            if seen["settled"]:
                return seen
            if time.monotonic() > deadline:
                raise StackError(
                    f"{public_id} was not judged within {JUDGING_S / 60:.0f} min; see {seen['links']['page']}"
                )

    def _call(self, method: str, path: str, headers: dict[str, str] | None = None, **more: Any) -> dict[str, Any]:
        authorised = {"Authorization": f"Bearer {self.token}", **(headers or {})}
        answer = _patiently(
            lambda: httpx.request(method, f"{self.address}/api/v1{path}", headers=authorised, timeout=90, **more)
        )
        if answer.is_error:
            raise StackError(f"{method} {path} was refused: {_problem(answer)}")
        found: dict[str, Any] = answer.json()
        return found


def _patiently(ask: Callable[[], httpx.Response]) -> httpx.Response:
    """The answer; a portal that is just being started again is waited for. A repeated upload has the same key."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        late = time.monotonic() > deadline
        try:
            answer = ask()
        except httpx.TransportError as fault:
            if late:
                raise StackError(f"the portal does not answer: {fault}") from fault
        else:
            if late or not answer.is_server_error:
                return answer
        time.sleep(0.5)


def packed(folder: Path) -> bytes:
    """The folder as .tar.gz, without builds and caches; the same bytes for the same files."""
    if not (folder / "build.sh").is_file():
        raise StackError(f"{folder} has no build.sh; is the checkout complete?")
    plain = io.BytesIO()
    with gzip.GzipFile(fileobj=plain, mode="wb", mtime=0) as zipped, tarfile.open(fileobj=zipped, mode="w") as archive:
        for path in sorted(folder.rglob("*")):
            relative = path.relative_to(folder)
            if path.is_file() and not {"build", "dist", "__pycache__"} & set(relative.parts):
                archive.add(path, arcname=relative.as_posix(), filter=_anonymous)
    return plain.getvalue()


def _anonymous(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = ""
    return entry


def _problem(answer: httpx.Response) -> str:
    try:
        problem = answer.json()
    except json.JSONDecodeError:
        return f"HTTP {answer.status_code}"
    return f"{problem.get('title', answer.status_code)}: {problem.get('detail', '')}"
