"""SQL about submissions and their events."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Row, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from app.models import SUBMISSION_NUMBER, Artifact, Board, Submission, SubmissionEvent, Visibility


def next_number(session: Session) -> int:
    """A number for a public id; given once, also where the transaction comes to nothing."""
    number: int = session.execute(SUBMISSION_NUMBER.next_value()).scalar_one()
    return number


def by_public_id(session: Session, public_id: str) -> Submission | None:
    """The submission of that public id."""
    return session.scalars(select(Submission).where(Submission.public_id == public_id)).first()


def by_key(session: Session, user_id: int, key: str) -> Submission | None:
    """The submission that a user made with an idempotency key."""
    query = select(Submission).where(Submission.user_id == user_id, Submission.idempotency_key == key)
    return session.scalars(query).first()


def board(session: Session, slug: str) -> Board | None:
    """The board of that slug."""
    return session.scalars(select(Board).where(Board.slug == slug)).first()


def with_board_and_artifact(session: Session, submission_id: int) -> Row[Board, Artifact]:
    """The submission's board and artifact."""
    query = select(Board, Artifact).select_from(Submission).join(Board, Board.id == Submission.board_id)
    query = query.join(Artifact, Artifact.sha256 == Submission.artifact_sha256)
    return session.execute(query.where(Submission.id == submission_id)).one()


def add_artifact(session: Session, sha256: str, size_bytes: int, filename: str, now: datetime) -> None:
    """The artifact's row, unless it is there already."""
    values = {"sha256": sha256, "size_bytes": size_bytes, "filename": filename, "stored_at": now}
    session.execute(insert(Artifact).values(values).on_conflict_do_nothing())


def events(session: Session, submission_id: int, after: int = 0, skip: str | None = None) -> Sequence[SubmissionEvent]:
    """The submission's events after that one, in order; those of kind `skip` are left out."""
    query = select(SubmissionEvent).where(SubmissionEvent.submission_id == submission_id, SubmissionEvent.id > after)
    if skip is not None:
        query = query.where(SubmissionEvent.kind != skip)
    return session.scalars(query.order_by(SubmissionEvent.id)).all()


def latest(
    session: Session, board_slug: str | None, reader_id: int | None, before: int | None, limit: int
) -> Sequence[Row[Submission, str]]:
    """Submissions that the reader may see with their boards' slugs, latest first."""
    query = select(Submission, Board.slug).join(Board, Board.id == Submission.board_id)
    visible = Submission.visibility == Visibility.PUBLIC
    query = query.where(visible if reader_id is None else visible | (Submission.user_id == reader_id))
    if board_slug:
        query = query.where(Board.slug == board_slug)
    if before is not None:
        query = query.where(Submission.id < before)
    return session.execute(query.order_by(Submission.id.desc()).limit(limit)).all()
