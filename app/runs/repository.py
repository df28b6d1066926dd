"""SQL about runs and the queue they make up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from sqlalchemy import Row, UnaryExpression, and_, func, or_, select, tuple_
from sqlalchemy.orm import InstrumentedAttribute, Session

from app.lifecycle import RunStatus
from app.models import (
    Board,
    CaseResult,
    FlagRow,
    Mode,
    OperatorResult,
    Publication,
    Run,
    Submission,
    Worker,
    WorkerState,
)

_DURATIONS_LOOKED_AT = 20


def queue_order() -> tuple[UnaryExpression[int] | InstrumentedAttribute[datetime] | InstrumentedAttribute[int], ...]:
    """The order in which runs are served: priority, then time; claims and positions both use it."""
    return (Run.priority.desc(), Run.queued_at, Run.id)


def take_next(session: Session, hardware: str) -> Row[Run, Submission] | None:
    """The next waiting run of that hardware and its submission, both locked; rows that others hold are skipped."""
    query = select(Run, Submission).join(Submission, Submission.id == Run.submission_id)
    query = query.where(Run.hardware == hardware, Run.waits).order_by(*queue_order()).limit(1)
    return session.execute(query.with_for_update(skip_locked=True, key_share=True)).first()


def locked(session: Session, run_id: int) -> Run:
    """The run as it is now, locked until the transaction ends."""
    query = (
        select(Run).where(Run.id == run_id).with_for_update(key_share=True).execution_options(populate_existing=True)
    )
    return session.scalars(query).one()


def locked_latest(session: Session, submission_id: int) -> Run | None:
    """The submission's latest run, locked."""
    query = select(Run).where(Run.submission_id == submission_id).order_by(Run.number.desc()).limit(1)
    return session.scalars(query.with_for_update(key_share=True).execution_options(populate_existing=True)).first()


def latest(session: Session, submission_id: int) -> Run | None:
    """The submission's latest run."""
    query = select(Run).where(Run.submission_id == submission_id).order_by(Run.number.desc()).limit(1)
    return session.scalars(query).first()


def expired(session: Session, now: datetime) -> list[tuple[int, int]]:
    """Ids of submission and run of every lease that has run out, oldest run first; nothing is locked."""
    query = select(Run.submission_id, Run.id).where(Run.lease_holder.is_not(None), Run.lease_deadline < now)
    return [(submission_id, run_id) for submission_id, run_id in session.execute(query.order_by(Run.id))]


def unanswered(session: Session, woken_before: datetime) -> Sequence[Run]:
    """Waiting runs about which no message was written since, locked."""
    query = select(Run).where(Run.waits, Run.woken_at < woken_before).order_by(Run.id)
    return session.scalars(query.with_for_update(skip_locked=True, key_share=True)).all()


def waiting(session: Session, hardware: str) -> Sequence[Row[Run, Submission]]:
    """Waiting runs of that hardware with their submissions, next first."""
    query = select(Run, Submission).join(Submission, Submission.id == Run.submission_id)
    return session.execute(query.where(Run.hardware == hardware, Run.waits).order_by(*queue_order())).all()


def leased(session: Session, hardware: str) -> Sequence[Row[Run, Submission]]:
    """Runs of that hardware that a worker has, oldest first."""
    query = select(Run, Submission).join(Submission, Submission.id == Run.submission_id)
    held = and_(Run.hardware == hardware, Run.lease_holder.is_not(None))
    return session.execute(query.where(held).order_by(Run.started_at)).all()


def count_before(session: Session, run: Run) -> int:
    """How many waiting runs of the same hardware are served before this one."""
    key = tuple_(-Run.priority, Run.queued_at, Run.id)
    own = tuple_(-run.priority, run.queued_at, run.id)
    query = select(func.count()).select_from(Run).where(Run.hardware == run.hardware, Run.waits, key < own)
    return session.scalar(query) or 0


def recent_durations_s(session: Session, hardware: str) -> list[float]:
    """Seconds that the latest whole runs of that hardware took, latest first.

    Practice, and runs in which no operator could be called, end long before their turn would tell anything.
    """
    seconds = func.extract("epoch", Run.finished_at - Run.started_at)
    called = select(OperatorResult.run_id).where(OperatorResult.run_id == Run.id, OperatorResult.compile_points > 0)
    query = select(seconds).join(Submission, Submission.id == Run.submission_id)
    query = query.where(Run.hardware == hardware, Run.status == RunStatus.FINISHED)
    query = query.where(Submission.mode == Mode.RANKED, called.exists())
    query = query.order_by(Run.finished_at.desc()).limit(_DURATIONS_LOOKED_AT)
    return [float(value) for value in session.scalars(query)]


def running_since(session: Session, hardware: str) -> list[datetime]:
    """When the runs that workers have now were started."""
    query = select(Run.started_at).where(Run.hardware == hardware, Run.lease_holder.is_not(None))
    return [started for started in session.scalars(query) if started is not None]


def workers_up(session: Session, hardware: str, alive_after: datetime) -> int:
    """Workers of that hardware that take leases and were heard of since."""
    query = select(func.count()).select_from(Worker).where(Worker.hardware == hardware)
    return session.scalar(query.where(Worker.state == WorkerState.UP, Worker.heartbeat_at > alive_after)) or 0


def hardware_in_use(session: Session) -> list[str]:
    """Hardware of boards, workers and runs that are not settled."""
    of_runs = select(Run.hardware).where(or_(Run.waits, Run.lease_holder.is_not(None)))
    query = select(Board.hardware).union(select(Worker.hardware), of_runs)
    return sorted(session.scalars(query))


def operator_results(session: Session, run_id: int) -> Sequence[OperatorResult]:
    """The run's operators, by level and name."""
    query = select(OperatorResult).where(OperatorResult.run_id == run_id)
    return session.scalars(query.order_by(OperatorResult.level, OperatorResult.operator)).all()


def case_results(session: Session, run_id: int) -> Sequence[CaseResult]:
    """The run's public cases, by operator and id."""
    query = select(CaseResult).where(CaseResult.run_id == run_id)
    return session.scalars(query.order_by(CaseResult.operator, CaseResult.case_id)).all()


def flags(session: Session, run_id: int) -> Sequence[FlagRow]:
    """The run's flags, by operator."""
    query = select(FlagRow).where(FlagRow.run_id == run_id).order_by(FlagRow.operator, FlagRow.id)
    return session.scalars(query).all()


def finished(session: Session, public_id: str, number: int) -> Row[Run, Submission] | None:
    """A finished run by its submission's public id and its number."""
    query = select(Run, Submission).join(Submission, Submission.id == Run.submission_id)
    query = query.where(Submission.public_id == public_id, Run.number == number, Run.status == RunStatus.FINISHED)
    return session.execute(query).first()


def scores(session: Session, submission_ids: Iterable[int]) -> list[Row[int, int, float]]:
    """Submission, number of the finished run and score, of every scored operator that is not held."""
    query = select(Run.submission_id, Run.number, OperatorResult.score)
    query = query.join(OperatorResult, OperatorResult.run_id == Run.id)
    query = query.where(OperatorResult.score.is_not(None), OperatorResult.publication != Publication.HELD)
    query = query.where(Run.submission_id.in_(set(submission_ids)), Run.status == RunStatus.FINISHED)
    return list(session.execute(query.order_by(Run.submission_id, Run.number)))
