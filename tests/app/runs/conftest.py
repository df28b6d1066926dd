"""Runs in a database, as workers find them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.db.session import Database
from app.lifecycle import SubmissionStatus
from app.models import Board, FlagRow, Mode, OperatorResult, OutboxMessage, Run, Submission, Visibility
from app.runs import service as runs
from kernel_eval.model import Suite
from tests.app.conftest import Engines
from tests.factories import portal_data
from tests.factories.portal_data import Entrant

T0 = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
LEASE_S = 30.0


def at(seconds: float) -> datetime:
    return T0 + timedelta(seconds=seconds)


def entrant(name: str = "Smith") -> Entrant:
    return Entrant("ada", name, "", "", "cpp", {})


@dataclass
class Bench:
    """A board in the module's database."""

    owner: Database
    worker: Database
    suite: Suite
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def add(
        self,
        now: datetime = T0,
        agent: str = "Smith",
        mode: Mode = Mode.RANKED,
        visibility: Visibility = Visibility.PUBLIC,
    ) -> int:
        """One more queued submission; its run's id."""
        with self.owner.session() as session:
            board = session.scalars(select(Board)).one()
            submission = portal_data.add_submission(
                session, board, entrant(agent), next(self.numbers), now, mode=mode, visibility=visibility
            )
            return session.scalars(select(Run.id).where(Run.submission_id == submission.id)).one()

    def run(self, run_id: int) -> Run:
        with self.owner.session() as session:
            return session.get_one(Run, run_id)

    def submission(self, run_id: int) -> Submission:
        with self.owner.session() as session:
            return session.get_one(Submission, session.get_one(Run, run_id).submission_id)

    def kinds(self, run_id: int) -> list[str]:
        """Kinds of the submission's events, in order."""
        from app.submissions.repository import events

        with self.owner.session() as session:
            return [event.kind for event in events(session, session.get_one(Run, run_id).submission_id)]

    def messages(self, session: Session, run_id: int) -> int:
        """Messages about that run that were written and not sent."""
        payloads = session.scalars(select(OutboxMessage.payload).where(OutboxMessage.sent_at.is_(None)))
        return sum(payload == {"run_id": run_id} for payload in payloads)

    def clear(self) -> None:
        """End every run that waits or is going on."""
        with self.owner.session() as session:
            for submission in session.scalars(select(Submission).with_for_update()):
                if submission.status.value in {"queued", "running"}:
                    runs.cancel(session, submission, T0)


def result(run_id: int, operator: str, score: float | None, source: str, noise: float) -> OperatorResult:
    points = (None, None, None) if score is None else (20.0, 30.0, score - 50) if score else (0.0, 0.0, 0.0)
    return OperatorResult(
        run_id=run_id, operator=operator, level="L1", source=source, verdict="accepted", score=score, noise=noise,
        compile_points=points[0], correct_points=points[1], performance_points=points[2], solved=True, speedup=1.0,
        public_passed=20, public_total=20, hidden_passed_coarse=100, hidden_total=80,
    )  # fmt: skip


def judged(
    bench: Bench,
    seconds: float,
    agent: str,
    scores: dict[str, float | None],
    *,
    source: str = "one",
    noise: float = 0.5,
    flags: dict[str, str] | None = None,
    took_s: float = 1,
    **asked: Any,
) -> tuple[int, SubmissionStatus]:
    """A submission with its whole way behind it; its run and where it came to. A score of 0 is a failed build's."""
    run_id = bench.add(at(seconds), agent, **asked)
    with bench.worker.session() as session:
        lease = runs.claim(session, "cpu", "w1", at(seconds + 1), LEASE_S)
    assert lease is not None
    assert lease.run_id == run_id
    with bench.worker.session() as session:
        runs.held_run(session, lease)
        session.add_all(result(run_id, name, score, source, noise) for name, score in scores.items())
        for operator, severity in (flags or {}).items():
            session.add(FlagRow(run_id=run_id, operator=operator, flag="residue", severity=severity, message="look"))
        status = runs.finish(session, lease, at(seconds + 1 + took_s), {})
    return run_id, status


@pytest.fixture(scope="module")
def module_bench(
    database_url: str, worker_database_url: str, engines: Engines, tmp_path_factory: pytest.TempPathFactory
) -> Bench:
    owner, worker = Database(engines(database_url)), Database(engines(worker_database_url))
    suite = portal_data.small_suite()
    with owner.session() as session:
        portal_data.add_board(session, suite, Path(tmp_path_factory.mktemp("storage")))
    return Bench(owner, worker, suite)


@pytest.fixture
def bench(module_bench: Bench) -> Iterator[Bench]:
    """The module's bench; nothing waits at the beginning of a test."""
    yield module_bench
    module_bench.clear()
