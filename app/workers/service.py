"""Workers announce themselves, are heard of, and leave."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy.orm import Session

from app.models import Worker, WorkerState
from app.workers import repository
from app.workers.errors import WorkerUnknown
from app.workers.schemas import WorkersView, WorkerView

ALIVE_FOR = timedelta(seconds=60)
"""A worker that was not heard of for longer counts as gone."""


def announce(
    session: Session,
    name: str,
    hardware: str,
    now: datetime,
    *,
    fingerprint: Mapping[str, Any],
    versions: Mapping[str, str],
    state: WorkerState = WorkerState.UP,
    message: str = "",
) -> None:
    """A worker started, or its state changed; `message` says why it is not up."""
    worker = repository.find(session, name)
    if worker is None:
        worker = Worker(name=name, started_at=now)
        session.add(worker)
    worker.hardware, worker.state, worker.message = hardware, state, message
    worker.fingerprint, worker.versions = dict(fingerprint), dict(versions)
    worker.started_at = worker.heartbeat_at = now


def heard_of(session: Session, name: str, now: datetime) -> WorkerState:
    """A worker said that it lives; returns the state it is in. Raises `WorkerUnknown`."""
    worker = repository.find(session, name)
    if worker is None:
        raise WorkerUnknown(name)
    worker.heartbeat_at = now
    return worker.state


def leave(session: Session, name: str, now: datetime, message: str = "stopped") -> None:
    """A worker stops in good order."""
    worker = repository.find(session, name)
    if worker is not None:
        worker.state, worker.message, worker.heartbeat_at = WorkerState.DOWN, message, now


def workers_view(session: Session, now: datetime) -> WorkersView:
    """All workers as they are now."""
    return WorkersView(workers=[_view(worker, now) for worker in repository.all_workers(session)])


def _view(worker: Worker, now: datetime) -> WorkerView:
    threads = worker.fingerprint.get("threads")
    return WorkerView(
        name=worker.name,
        hardware=worker.hardware,
        state=worker.state.value,
        alive=worker.state is not WorkerState.DOWN and worker.heartbeat_at > now - ALIVE_FOR,
        message=worker.message,
        cpu=str(worker.fingerprint.get("cpu_model", "")),
        threads=threads if isinstance(threads, int) else None,
        versions={key: str(value) for key, value in worker.versions.items()},
        started_at=worker.started_at,
        heartbeat_at=worker.heartbeat_at,
    )
