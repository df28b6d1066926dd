"""SQL about boards and standings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Row, func, select
from sqlalchemy.orm import Session

from app.lifecycle import RunStatus, SubmissionStatus
from app.models import (
    Anchors,
    Board,
    FlagRow,
    Mode,
    OperatorResult,
    Publication,
    Run,
    Standing,
    StandingEvent,
    Submission,
    Suite,
)


@dataclass(frozen=True)
class Stand:
    """An entry's score of one operator, now or at some date: the median of `runs` runs, of which it names the first."""

    entry_id: int
    operator: str
    score: float
    noise: float
    run_id: int
    published_at: datetime
    runs: int = 1


@dataclass(frozen=True)
class Origin:
    """Where a run came from: its submission, its number in it, when it was received."""

    run_id: int
    number: int
    submission: str
    received_at: datetime


@dataclass(frozen=True)
class Outcome:
    """What a run made of an operator, beside its score."""

    solved: bool
    speedup: float | None
    verdict: str = "accepted"
    compile_points: float | None = None
    correct_points: float | None = None


@dataclass(frozen=True)
class RunFlag:
    """A flag of a run, for badges."""

    run_id: int
    operator: str
    flag: str
    severity: str


def by_slug(session: Session, slug: str) -> Row[Board, Suite] | None:
    """The board and its suite."""
    query = select(Board, Suite).join(Suite, Suite.id == Board.suite_id).where(Board.slug == slug)
    return session.execute(query).first()


def all_boards(session: Session) -> Sequence[Row[Board, Suite]]:
    """All boards with their suites, oldest first."""
    query = select(Board, Suite).join(Suite, Suite.id == Board.suite_id).order_by(Board.id)
    return session.execute(query).all()


def anchors_version(session: Session, anchors_id: int | None) -> str | None:
    """Version of the board's anchors."""
    return session.scalar(select(Anchors.version).where(Anchors.id == anchors_id))


def count_entries(session: Session, board_id: int) -> int:
    """How many entries stand on the board."""
    query = select(func.count(func.distinct(Standing.entry_id))).where(Standing.board_id == board_id)
    return session.scalar(query) or 0


def standings(session: Session, board_id: int) -> list[Stand]:
    """What stands on the board now."""
    columns = (Standing.entry_id, Standing.operator, Standing.score, Standing.noise, Standing.run_id)
    query = select(*columns, Standing.published_at, Standing.runs).where(Standing.board_id == board_id)
    return [Stand(*row) for row in session.execute(query)]


def standings_as_of(session: Session, board_id: int, as_of: datetime) -> list[Stand]:
    """What stood on the board at that moment, from its history."""
    event = StandingEvent
    until = select(func.max(event.id)).where(event.board_id == board_id, event.at <= as_of)
    latest = until.group_by(event.entry_id, event.operator)
    query = select(event.entry_id, event.operator, event.score, event.noise, event.run_id, event.at, event.runs)
    query = query.where(event.id.in_(latest))
    return [
        Stand(row.entry_id, row.operator, row.score, row.noise, row.run_id, row.at, row.runs)
        for row in session.execute(query)
        if row.score is not None
    ]


def origins(session: Session, run_ids: Iterable[int]) -> dict[int, Origin]:
    """Where these runs came from, by run id."""
    query = select(Run.id, Run.number, Submission.public_id, Submission.received_at)
    query = query.join(Submission, Submission.id == Run.submission_id).where(Run.id.in_(set(run_ids)))
    return {row[0]: Origin(*row) for row in session.execute(query)}


def operator_results(session: Session, run_ids: Iterable[int]) -> dict[tuple[int, str], Outcome]:
    """What became of an operator beside its score, by run id and operator."""
    result = OperatorResult
    axes = (result.compile_points, result.correct_points)
    query = select(result.run_id, result.operator, result.solved, result.speedup, result.verdict, *axes)
    rows = session.execute(query.where(result.run_id.in_(set(run_ids)))).all()
    return {(row[0], row[1]): Outcome(*row[2:]) for row in rows}


def flags(session: Session, run_ids: Iterable[int]) -> list[RunFlag]:
    """The runs' flags."""
    query = select(FlagRow.run_id, FlagRow.operator, FlagRow.flag, FlagRow.severity)
    return [RunFlag(*row) for row in session.execute(query.where(FlagRow.run_id.in_(set(run_ids))))]


def held(session: Session, board_id: int, as_of: datetime | None) -> dict[int, set[str]]:
    """Operators with a score that waits for a person's decision, per entry; with `as_of`, of runs finished by then."""
    query = select(Submission.entry_id, OperatorResult.operator).join(Run, Run.submission_id == Submission.id)
    query = query.join(OperatorResult, OperatorResult.run_id == Run.id).where(Submission.board_id == board_id)
    query = query.where(OperatorResult.publication == Publication.HELD)
    query = query.where(Submission.status != SubmissionStatus.WITHDRAWN)
    found: dict[int, set[str]] = {}
    for entry_id, operator in session.execute(query if as_of is None else query.where(Run.finished_at <= as_of)):
        found.setdefault(entry_id, set()).add(operator)
    return found


def attempts(session: Session, board_id: int, as_of: datetime | None) -> dict[int, int]:
    """Number of finished ranked runs on the board, per entry; with `as_of`, of those finished by then."""
    query = select(Submission.entry_id, func.count()).join(Run, Run.submission_id == Submission.id)
    query = query.where(Submission.board_id == board_id, Submission.mode == Mode.RANKED)
    query = query.where(Run.status == RunStatus.FINISHED).group_by(Submission.entry_id)
    return {
        row[0]: row[1] for row in session.execute(query if as_of is None else query.where(Run.finished_at <= as_of))
    }
