"""A worker's part in the database, played by hand: take leases, fail."""

from __future__ import annotations

from datetime import UTC, datetime

from app.runs import service as runs
from app.runs.lease import Lease
from tests.app.conftest import Stage


def claim(stage: Stage, public_id: str) -> Lease:
    """Take runs until it is that submission's turn."""
    while True:
        with stage.worker.session() as session:
            lease = runs.claim(session, "cpu", "eval-1", datetime.now(UTC), 60)
        assert lease is not None
        if lease.public_id == public_id:
            return lease


def fail_thrice(stage: Stage, public_id: str) -> None:
    for _ in range(runs.MAX_ATTEMPTS):
        lease = claim(stage, public_id)
        with stage.worker.session() as session:
            runs.fail(session, lease, datetime.now(UTC), "the disk is full")
