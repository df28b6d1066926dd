"""What is told of a submission while it runs, and the moves of its status.

Every happening is a row, and wakes the pages that wait for it: PostgreSQL's
NOTIFY is sent when, and only when, the transaction is committed.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from app.lifecycle import SETTLED, SubmissionStatus, move
from app.models import Submission, SubmissionEvent

CHANNEL = "submission_events"
"""PostgreSQL's channel for submission ids that something happened to."""


class Happening(StrEnum):
    """Every kind of event. The keys of its data stand behind it."""

    RECEIVED = "received"
    QUEUED = "queued"
    """`run`: number of the run."""
    STARTED = "started"
    """`attempt`, `worker`."""
    BUILDING = "building"
    BUILT = "built"
    """`succeeded`, `seconds`, `message`."""
    OPERATOR = "operator"
    """`operator`, `position`, `total`: judging of one begins."""
    PUBLIC_CASES = "public_cases"
    """`done`, `total`, over all operators."""
    HIDDEN_CASES = "hidden"
    """`position`, `total` of operators; on ticks of 30 s, nothing else of hidden cases."""
    OPERATOR_DONE = "operator_done"
    """`operator`."""
    LOG = "log"
    """`text`: lines of the public log."""
    RETRYING = "retrying"
    """`attempt`, `of`: a fault of ours; another attempt follows."""
    RETURNED = "returned"
    """The worker stopped in good order and gave the run back; the attempt does not count."""
    PUBLISHED = "published"
    HELD = "held"
    FAILED = "failed"
    CANCELLED = "cancelled"
    WITHDRAWN = "withdrawn"


def tell(
    session: Session,
    submission_id: int,
    kind: Happening,
    now: datetime,
    data: Mapping[str, Any] | None = None,
    run_id: int | None = None,
) -> None:
    """Write one event and wake those who wait for it."""
    event = SubmissionEvent(submission_id=submission_id, run_id=run_id, at=now, kind=kind.value, data=dict(data or {}))
    session.add(event)
    session.execute(text("SELECT pg_notify(:channel, :id)"), {"channel": CHANNEL, "id": str(submission_id)})


def locked(session: Session, submission_id: int) -> Submission:
    """The submission with its row locked until the transaction ends."""
    query = select(Submission).where(Submission.id == submission_id).with_for_update(key_share=True)
    return session.scalars(query.execution_options(populate_existing=True)).one()


def advance(
    session: Session,
    submission: Submission,
    status: SubmissionStatus,
    now: datetime,
    *,
    message: str = "",
    data: Mapping[str, Any] | None = None,
    run_id: int | None = None,
) -> None:
    """Move a locked submission on and tell of it. Raises `TransitionRefused`."""
    move(submission, status)
    submission.message = message
    if status in SETTLED:
        submission.finished_at = now
    kind = Happening.STARTED if status is SubmissionStatus.RUNNING else Happening(status.value)
    tell(session, submission.id, kind, now, {**(data or {}), **({"message": message} if message else {})}, run_id)
