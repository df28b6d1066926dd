"""What can be wrong with a worker."""

from __future__ import annotations


class WorkerError(Exception):
    """A worker did something out of order."""


class WorkerUnknown(WorkerError):
    """A worker was heard of that never announced itself."""

    def __init__(self, name: str) -> None:
        super().__init__(f"worker {name!r} never announced itself")
