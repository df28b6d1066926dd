"""Accept submissions, show them, cancel them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import text
from sqlalchemy.orm import Session

from app.entries.service import entry_for, entry_view, entry_views
from app.lifecycle import SETTLED, SubmissionStatus, TransitionRefused
from app.models import Mode, Run, Submission, SubmissionEvent, Visibility
from app.runs import service as runs
from app.runs.ids import submission_id
from app.runs.results import latest_run, result_of, totals_of
from app.runs.waiting import wait_view
from app.submissions import repository
from app.submissions.errors import KeyReused, SubmissionNotFound, TooLateToCancel
from app.submissions.happenings import Happening, advance, locked, tell
from app.submissions.log import log_text
from app.submissions.schemas import (
    EventView,
    Links,
    SubmissionForm,
    SubmissionList,
    SubmissionSummary,
    SubmissionView,
)
from app.submissions.steps import steps_of
from kernel_eval.errors import Fault

API = "/api/v1"


@dataclass(frozen=True)
class Handed:
    """What somebody handed in: fields, and the staged file that passed the archive rules."""

    form: SubmissionForm
    filename: str
    sha256: str
    size_bytes: int
    idempotency_key: str | None

    @property
    def digest(self) -> str:
        """Tells whether two requests are the same: over the file and every field."""
        parts = [self.sha256, self.form.model_dump(mode="json")]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class Accepted:
    """The accepted submission's public id; `repeated` says that its key had been used for it before."""

    public_id: str
    repeated: bool = False


def board_faults(session: Session, slug: str) -> list[Fault]:
    """What is wrong with the chosen board."""
    if repository.board(session, slug) is not None:
        return []
    return [Fault("REQ-005", "board", f"there is no board {slug!r}; GET /api/v1/boards lists them")]


def accept(
    session: Session,
    handed: Handed,
    user_id: int,
    user_name: str,
    *,
    instance: str,
    now: datetime,
    keep: Callable[[], object],
) -> Accepted:
    """Write artifact, submission, run and message in the caller's one transaction.

    `keep` puts the file into its place; it is called last, so that a refusal
    leaves no file and a committed submission always has its file. Raises `KeyReused`.
    """
    if handed.idempotency_key is not None:
        before = _same_request(session, handed, user_id, handed.idempotency_key)
        if before is not None:
            return before
    submission = _add(session, handed, user_id, user_name, instance, now)
    tell(session, submission.id, Happening.RECEIVED, now)
    run = runs.enqueue(session, submission, now)
    advance(session, submission, SubmissionStatus.QUEUED, now, data={"run": run.number}, run_id=run.id)
    session.flush()
    keep()
    return Accepted(submission.public_id)


def submission_view(session: Session, public_id: str, reader_id: int | None, public_url: str) -> SubmissionView:
    """The submission as it is now; raises `SubmissionNotFound`, also for what is not for this reader."""
    submission = _find(session, public_id, reader_id)
    board, artifact = repository.with_board_and_artifact(session, submission.id)
    run = latest_run(session, submission.id)
    events = _views(repository.events(session, submission.id, skip=Happening.LOG))
    return SubmissionView(
        id=submission.public_id,
        status=submission.status.value,
        settled=submission.status in SETTLED,
        message=submission.message,
        board=board.slug,
        hardware=board.hardware,
        entry=entry_view(session, submission.entry_id),
        filename=submission.filename,
        artifact_sha256=submission.artifact_sha256,
        size_bytes=artifact.size_bytes,
        mode=submission.mode.value,
        visibility=submission.visibility.value,
        note=submission.note,
        received_at=submission.received_at,
        finished_at=submission.finished_at,
        run=run.number if run else 1,
        attempt=run.attempt if run else 0,
        max_attempts=run.max_attempts if run else runs.MAX_ATTEMPTS,
        steps=steps_of(submission.status, events, hidden=submission.mode is Mode.RANKED),
        wait=wait_view(session, run, datetime.now(UTC)) if run and run.waits else None,
        links=_links(submission, run, public_url),
    )


def submission_list(
    session: Session, reader_id: int | None, board: str | None, before: int | None, limit: int
) -> SubmissionList:
    """Submissions that the reader may see, latest first; `before` is the previous page's cursor."""
    rows = repository.latest(session, board, reader_id, before, limit + 1)
    page = rows[:limit]
    entries = entry_views(session, {submission.entry_id for submission, _ in page})
    totals = totals_of(session, [submission.id for submission, _ in page])
    summaries = [
        SubmissionSummary(
            id=submission.public_id,
            status=submission.status.value,
            board=slug,
            entry=entries[submission.entry_id],
            mode=submission.mode.value,
            received_at=submission.received_at,
            finished_at=submission.finished_at,
            total=totals.get(submission.id),
        )
        for submission, slug in page
    ]
    return SubmissionList(submissions=summaries, next_cursor=str(page[-1][0].id) if len(rows) > limit else None)


def row_id(session: Session, public_id: str, reader_id: int | None) -> int:
    """The submission's internal id, for waiting; raises `SubmissionNotFound`."""
    return _find(session, public_id, reader_id).id


def events_after(session: Session, submission_row_id: int, after: int) -> list[EventView]:
    """The submission's events after that id, in order."""
    return _views(repository.events(session, submission_row_id, after))


def public_log(session: Session, public_id: str, reader_id: int | None) -> str:
    """The public log; raises `SubmissionNotFound`."""
    return log_text(_views(repository.events(session, _find(session, public_id, reader_id).id)))


def cancel(session: Session, public_id: str, user_id: int, now: datetime) -> None:
    """Cancel one's own submission; raises `SubmissionNotFound`, `TooLateToCancel`.

    Cancelling twice is the same as once.
    """
    found = _find(session, public_id, user_id)
    if found.user_id != user_id:
        raise SubmissionNotFound(public_id)
    submission = locked(session, found.id)
    if submission.status is SubmissionStatus.CANCELLED:
        return
    try:
        runs.cancel(session, submission, now)
    except TransitionRefused as refused:
        raise TooLateToCancel(public_id, refused.current.value) from refused


def _same_request(session: Session, handed: Handed, user_id: int, key: str) -> Accepted | None:
    """The submission that this key stands for already. Locks the key, so that of two equal posts one waits."""
    lock = text("SELECT pg_advisory_xact_lock(hashtextextended(:key, :user_id))")
    session.execute(lock, {"key": key, "user_id": user_id})
    before = repository.by_key(session, user_id, key)
    if before is None:
        return None
    if before.request_digest != handed.digest:
        raise KeyReused(before.public_id)
    return Accepted(before.public_id, repeated=True)


def _add(session: Session, handed: Handed, user_id: int, user_name: str, instance: str, now: datetime) -> Submission:
    form = handed.form
    repository.add_artifact(session, handed.sha256, handed.size_bytes, handed.filename, now)
    words = {"agent": form.agent, "model": form.model, "harness": form.harness, "dsl": form.dsl.value}
    entry = entry_for(session, user_id, user_name, **words)
    board = repository.board(session, form.board)
    if board is None:
        raise SubmissionNotFound(form.board)
    submission = Submission(
        public_id=submission_id(instance, now.year, repository.next_number(session)),
        user_id=user_id,
        entry_id=entry.id,
        board_id=board.id,
        artifact_sha256=handed.sha256,
        filename=handed.filename,
        status=SubmissionStatus.RECEIVED,
        mode=form.mode,
        visibility=form.visibility,
        note=form.note,
        idempotency_key=handed.idempotency_key,
        request_digest=handed.digest,
        received_at=now,
    )
    session.add(submission)
    session.flush()
    return submission


def _find(session: Session, public_id: str, reader_id: int | None) -> Submission:
    submission = repository.by_public_id(session, public_id)
    if submission is None or (submission.visibility is Visibility.PRIVATE and submission.user_id != reader_id):
        raise SubmissionNotFound(public_id)
    return submission


def _views(rows: Iterable[SubmissionEvent]) -> list[EventView]:
    return [EventView(id=row.id, at=row.at, kind=row.kind, data=row.data) for row in rows]


def _links(submission: Submission, run: Run | None, public_url: str) -> Links:
    own = f"{public_url}{API}/submissions/{submission.public_id}"
    result = result_of(run, submission) if run else None
    return Links(
        page=f"{public_url}/submissions/{submission.public_id}",
        self=own,
        events=f"{own}/events",
        log=f"{own}/log",
        cancel=f"{own}/cancel",
        result=f"{public_url}{API}/results/{result}" if result else None,
    )
