"""Time from an accepted upload to the start of its build, over a real stack.

Uses the checkout's running stack, or starts one for the purpose. Usage:

    python -m benchmarks.upload_to_build [--submissions 8]
"""

from __future__ import annotations

import argparse
import io
import secrets
import sys
import tarfile
import time
from datetime import datetime
from typing import Any

import httpx

from benchmarks.support.figures import aim, finish, spread, tell
from benchmarks.support.stack import running_stack
from local_stack.client import Client
from local_stack.example import BOARD

AIM_S = 0.5
PATIENCE_S = 120.0


def main() -> int:
    """Hand in small submissions one after another and read when each was taken up."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--submissions", type=int, default=8)
    count = parser.parse_args().submissions
    waits: list[float] = []
    uploads: list[float] = []
    with running_stack() as client:
        _, first = hand_in(client, 0)  # a fresh worker may still be loading the judge
        for number in range(1, count + 1):
            uploaded, waited = hand_in(client, number)
            tell(f"upload {uploaded:.3f} s, build began {waited:.3f} s after it was accepted")
            uploads.append(uploaded)
            waits.append(waited)
    found = spread(waits)
    return finish(
        "upload_to_build",
        {"median_s": aim(found["median"], AIM_S)},
        wait_s=found,
        upload_s=spread(uploads),
        first_s=first,
    )


def hand_in(client: Client, number: int) -> tuple[float, float]:
    """Seconds of the upload, and from its acceptance to the start of its build."""
    began = time.monotonic()
    answer = httpx.post(
        f"{client.address}/api/v1/submissions",
        headers={"Authorization": f"Bearer {client.token}", "Idempotency-Key": f"bench-{secrets.token_hex(8)}"},
        files={"file": ("bench.tar", archive(number), "application/x-tar")},
        data={"board": BOARD, "agent": "benchmark", "mode": "practice"},
        timeout=30,
    )
    uploaded = time.monotonic() - began
    if answer.status_code != httpx.codes.ACCEPTED:
        raise SystemExit(f"the upload was refused: {answer.text}")
    view = settled(client, answer.json()["id"])
    building = next(step["at"] for step in view["steps"] if step["name"] == "building")
    if building is None:
        raise SystemExit(f"{view['id']} was never built: {view['message']}")
    return uploaded, (datetime.fromisoformat(building) - datetime.fromisoformat(view["received_at"])).total_seconds()


def settled(client: Client, public_id: str) -> dict[str, Any]:
    """The submission once nothing more happens to it, so that the next one finds an idle worker."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        view = client.submission(public_id, 10)
        if view["settled"]:
            return view
    raise SystemExit(f"{public_id} was not settled within {PATIENCE_S:.0f} s")


def archive(number: int) -> bytes:
    """A submission whose build fails at once: what counts is when it begins."""
    script = f"echo submission {number} {secrets.token_hex(4)}\nexit 1\n".encode()
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as packed:
        entry = tarfile.TarInfo("build.sh")
        entry.size = len(script)
        packed.addfile(entry, io.BytesIO(script))
    return held.getvalue()


if __name__ == "__main__":
    sys.exit(main())
