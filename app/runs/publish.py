"""What of a finished run stands on its board: the one function that changes standings.

A hold flag keeps its operator back until a person decides. An operator that a
fault of ours left unscored changes nothing. Otherwise the entry's attempts at
the operator compete as `kernel_eval.score.best_pool` says: runs of the same
sources pool by their median, other sources win only outside the noise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.lifecycle import SubmissionStatus
from app.models import (
    Board,
    FlagRow,
    Mode,
    OperatorResult,
    Publication,
    Run,
    Standing,
    StandingEvent,
    Submission,
    Visibility,
)
from app.submissions.happenings import advance
from kernel_eval.model import Severity
from kernel_eval.score import Attempt, best_pool

HELD_MESSAGE = "Every operator of it waits for a person's decision: see the flags."


def publish_run(session: Session, run: Run, submission: Submission, now: datetime) -> SubmissionStatus:
    """Publish what may be of a finished run; both rows are locked by the caller.

    Returns the status the submission went to: `HELD` where every scored operator
    is withheld, else `PUBLISHED`.
    """
    board = _locked_board(session, submission.board_id)
    results = session.scalars(select(OperatorResult).where(OperatorResult.run_id == run.id)).all()
    withheld = _withheld(session, run.id)
    for result in results:
        result.publication = _publication(result, submission, withheld)
    session.flush()
    for result in _standing(results):
        _restand(session, board, submission, result, now)
    if any(result.publication in (Publication.STANDING, Publication.HELD) for result in results):
        board.version += 1
    scored = [result for result in results if result.publication is not Publication.UNSCORED]
    held = bool(scored) and all(result.publication is Publication.HELD for result in scored)
    status = SubmissionStatus.HELD if held else SubmissionStatus.PUBLISHED
    advance(session, submission, status, now, message=HELD_MESSAGE if held else "", run_id=run.id)
    return status


def _locked_board(session: Session, board_id: int) -> Board:
    """The board, locked, so that two runs that end together publish one after the other."""
    query = select(Board).where(Board.id == board_id).with_for_update(key_share=True)
    return session.scalars(query.execution_options(populate_existing=True)).one()


def _withheld(session: Session, run_id: int) -> frozenset[str]:
    query = select(FlagRow.operator).where(FlagRow.run_id == run_id, FlagRow.severity == Severity.HOLD.value)
    return frozenset(session.scalars(query))


def _publication(result: OperatorResult, submission: Submission, withheld: frozenset[str]) -> Publication:
    if result.score is None:
        return Publication.UNSCORED
    if submission.mode is not Mode.RANKED or submission.visibility is not Visibility.PUBLIC:
        return Publication.UNRANKED
    return Publication.HELD if result.operator in withheld else Publication.STANDING


def _standing(results: Iterable[OperatorResult]) -> list[OperatorResult]:
    return [result for result in results if result.publication is Publication.STANDING]


def _restand(session: Session, board: Board, submission: Submission, result: OperatorResult, now: datetime) -> None:
    """Let the entry's attempts at one operator compete again, and note where its standing changed."""
    pool = best_pool(_attempts(session, board.id, submission.entry_id, result.operator))
    if pool is None:
        return
    key = {"board_id": board.id, "entry_id": submission.entry_id, "operator": result.operator}
    standing = session.get(Standing, key)
    figures = {"run_id": int(pool.runs[0]), "score": pool.score, "noise": pool.band, "runs": len(pool.runs)}
    if standing is not None and all(getattr(standing, name) == value for name, value in figures.items()):
        return
    reason = "first score" if standing is None else _reason(standing, figures)
    session.merge(Standing(**key, **figures, published_at=now))
    session.add(StandingEvent(**key, **figures, at=now, reason=reason))


def _reason(before: Standing, figures: Mapping[str, float]) -> str:
    """Why a standing changes: another run of the same sources, or other sources that are better."""
    same = before.run_id == figures["run_id"]
    return f"median of {figures['runs']} runs of the same sources" if same else "better by more than the noise of both"


def _attempts(session: Session, board_id: int, entry_id: int, operator: str) -> list[Attempt]:
    """The entry's published runs of the operator, in the order they were finished."""
    query = (
        select(OperatorResult, Run.id)
        .join(Run, Run.id == OperatorResult.run_id)
        .join(Submission, Submission.id == Run.submission_id)
        .where(Submission.board_id == board_id, Submission.entry_id == entry_id)
        .where(OperatorResult.operator == operator, OperatorResult.publication == Publication.STANDING)
        .where(Submission.status != SubmissionStatus.WITHDRAWN)
        .order_by(Run.finished_at, Run.id)
    )
    return [
        Attempt(str(run_id), result.source, result.score, result.noise)
        for result, run_id in session.execute(query)
        if result.score is not None
    ]
