"""What a worker holds while it judges a run."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from app.models import Mode


@dataclass(frozen=True)
class Lease:
    """The right to judge one run until `deadline`, under fencing number `fence`.

    `attempt` counts from 1 to `max_attempts`. `artifact_sha256` and `filename`
    say what to fetch and unpack; a `practice` run is judged on public cases alone.
    """

    run_id: int
    submission_id: int
    public_id: str
    holder: str
    fence: int
    deadline: datetime
    attempt: int
    max_attempts: int
    hardware: str
    board: str
    artifact_sha256: str
    filename: str
    mode: Mode


class Heartbeat(StrEnum):
    """What a worker learns when it prolongs its lease."""

    HELD = "held"
    LOST = "lost"
    """Another attempt has the run, or it was ended: stop, record nothing."""
    CANCELLED = "cancelled"
    """Kill the box at once, record nothing."""


@dataclass(frozen=True)
class Swept:
    """What one sweep did."""

    expired: int
    errored: int
    rewoken: int
