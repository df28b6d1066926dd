"""SQL about workers."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import Worker


def all_workers(session: Session) -> Sequence[Worker]:
    """All workers, by hardware and name."""
    return session.scalars(select(Worker).order_by(Worker.hardware, Worker.name)).all()


def find(session: Session, name: str) -> Worker | None:
    """The worker of that name."""
    return session.get(Worker, name)
