"""What can go wrong with a lease or a result."""

from __future__ import annotations

from app.errors import NotFound


class LeaseError(Exception):
    """The worker may not write for this run any more; nothing was written."""


class LeaseLost(LeaseError):
    """Another attempt has begun, or the lease ran out: the fencing number is stale."""

    def __init__(self, run_id: int, fence: int) -> None:
        super().__init__(f"run {run_id}: fence {fence} is stale; another attempt has the run")


class RunCancelled(LeaseError):
    """The submission was cancelled: kill the box, record nothing."""

    def __init__(self, run_id: int) -> None:
        super().__init__(f"run {run_id} was cancelled")


class ResultNotFound(NotFound):
    """No finished run under that id, or it is not for this reader."""

    slug = "result-not-found"
