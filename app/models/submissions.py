"""What people hand in: artifacts, submissions, and what happened to them."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ForeignKey, Index, Sequence, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, words_of
from app.lifecycle import SubmissionStatus

SUBMISSION_NUMBER = Sequence("submission_number", metadata=Base.metadata)
"""Gives the number in a public id. A number that was given and not used is left out."""


class Mode(StrEnum):
    """Ranked submissions are judged on all cases, practice ones on public cases alone."""

    RANKED = "ranked"
    PRACTICE = "practice"


class Visibility(StrEnum):
    """Who may see a submission and its results: everyone, or its owner."""

    PUBLIC = "public"
    PRIVATE = "private"


class Artifact(Base):
    """A stored upload, by the SHA-256 of its bytes in lower-case hexadecimal."""

    __tablename__ = "artifacts"

    sha256: Mapped[str] = mapped_column(primary_key=True)
    size_bytes: Mapped[int]
    filename: Mapped[str]
    stored_at: Mapped[datetime]


class Submission(Base):
    """One upload to one board. `request_digest` tells whether a repeated key repeats the same request."""

    __tablename__ = "submissions"

    id: Mapped[int] = mapped_column(primary_key=True)
    public_id: Mapped[str] = mapped_column(unique=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    entry_id: Mapped[int] = mapped_column(ForeignKey("entries.id"))
    board_id: Mapped[int] = mapped_column(ForeignKey("boards.id"))
    artifact_sha256: Mapped[str] = mapped_column(ForeignKey("artifacts.sha256"))
    filename: Mapped[str]
    status: Mapped[SubmissionStatus] = mapped_column(words_of(SubmissionStatus))
    mode: Mapped[Mode] = mapped_column(words_of(Mode))
    visibility: Mapped[Visibility] = mapped_column(words_of(Visibility))
    note: Mapped[str] = mapped_column(default="")
    idempotency_key: Mapped[str | None]
    request_digest: Mapped[str]
    received_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]
    message: Mapped[str] = mapped_column(default="")

    __table_args__ = (
        Index("uq_submissions_user_id_idempotency_key", "user_id", "idempotency_key", unique=True),
        Index(None, "board_id", "received_at"),
        Index(None, "entry_id"),
    )


class SubmissionEvent(Base):
    """One public happening of a submission: its status line and its log are made of these.

    Nothing in `data` comes from a hidden case except ticks that name an operator's position.
    """

    __tablename__ = "submission_events"

    id: Mapped[int] = mapped_column(primary_key=True)
    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id"))
    run_id: Mapped[int | None] = mapped_column(ForeignKey("runs.id"))
    at: Mapped[datetime]
    kind: Mapped[str]
    data: Mapped[dict[str, Any]]

    __table_args__ = (Index(None, "submission_id", "id"),)


class OutboxMessage(Base):
    """A message that must be sent once its transaction is committed."""

    __tablename__ = "outbox"

    id: Mapped[int] = mapped_column(primary_key=True)
    topic: Mapped[str]
    payload: Mapped[dict[str, Any]]
    created_at: Mapped[datetime]
    sent_at: Mapped[datetime | None]
    attempts: Mapped[int] = mapped_column(default=0)

    __table_args__ = (Index("ix_outbox_unsent", "id", postgresql_where=text("sent_at IS NULL")),)
