"""Workers as they are shown."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel


class WorkerView(BaseModel):
    """An evaluation host. `alive` says whether it was heard of lately; `message` why it is not up."""

    name: str
    hardware: str
    state: str
    alive: bool
    message: str
    cpu: str
    threads: int | None
    versions: dict[str, str]
    started_at: datetime
    heartbeat_at: datetime


class WorkersView(BaseModel):
    """All workers."""

    workers: list[WorkerView]
