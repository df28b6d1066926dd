"""Judging of a submission: runs, and the workers that do them."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, ForeignKey, Index, UniqueConstraint, and_, text
from sqlalchemy.ext.hybrid import hybrid_property
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, words_of
from app.lifecycle import RunStatus

_UNSETTLED = (RunStatus.QUEUED, RunStatus.RUNNING)


class Run(Base):
    """One judging of a submission; `number` counts from 1 within it.

    A worker may write only while it holds the lease under the current `fence`.
    `report` is what the run says of itself: versions, digests, totals, build time.
    """

    __tablename__ = "runs"

    id: Mapped[int] = mapped_column(primary_key=True)
    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id"))
    number: Mapped[int] = mapped_column(default=1)
    status: Mapped[RunStatus] = mapped_column(words_of(RunStatus))
    priority: Mapped[int] = mapped_column(default=0)
    attempt: Mapped[int] = mapped_column(default=0)
    max_attempts: Mapped[int] = mapped_column(default=3)
    hardware: Mapped[str]
    lease_holder: Mapped[str | None]
    lease_deadline: Mapped[datetime | None]
    fence: Mapped[int] = mapped_column(default=0)
    queued_at: Mapped[datetime]
    woken_at: Mapped[datetime]
    """When a worker was last sent a message about it."""
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    error: Mapped[str] = mapped_column(default="")
    """Our fault in our words, for admins; never shown to anyone else."""
    report: Mapped[dict[str, Any]] = mapped_column(default=dict)

    @hybrid_property
    def waits(self) -> bool:
        """Whether it is in the queue: for its first attempt, or for a further one."""
        return self.lease_holder is None and self.status in _UNSETTLED

    @waits.inplace.expression
    @classmethod
    def _waits(cls) -> ColumnElement[bool]:
        return and_(cls.lease_holder.is_(None), cls.status.in_(_UNSETTLED))

    __table_args__ = (
        UniqueConstraint("submission_id", "number"),
        Index(
            "ix_runs_claimable",
            "hardware",
            text("priority DESC"),
            "queued_at",
            "id",
            postgresql_where=text("lease_holder IS NULL AND status IN ('queued', 'running')"),
        ),
        Index("ix_runs_leased", "lease_deadline", postgresql_where=text("lease_holder IS NOT NULL")),
        Index("ix_runs_finished", "hardware", "finished_at", postgresql_where=text("status = 'finished'")),
    )


class WorkerState(StrEnum):
    """Whether a worker takes leases."""

    UP = "up"
    DRAINING = "draining"
    DOWN = "down"


class Worker(Base):
    """An evaluation host as it announced itself; `message` says why it is not up."""

    __tablename__ = "workers"

    name: Mapped[str] = mapped_column(primary_key=True)
    hardware: Mapped[str]
    state: Mapped[WorkerState] = mapped_column(words_of(WorkerState))
    message: Mapped[str] = mapped_column(default="")
    fingerprint: Mapped[dict[str, Any]]
    versions: Mapped[dict[str, Any]]
    started_at: Mapped[datetime]
    heartbeat_at: Mapped[datetime]
