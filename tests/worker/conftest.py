"""A board with queued runs in a real database, as a worker finds it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from app.db.session import Database, make_engine
from app.models import Board, Run, Submission
from kernel_eval.model import Suite
from tests.factories import portal_data
from tests.factories.portal_data import Entrant


@dataclass(frozen=True)
class Queue:
    """The module's database with a board on it; `add` queues one more submission."""

    owner: Engine
    worker: Database
    suite: Suite
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def add(self) -> int:
        """Queues a submission; its run's id."""
        number = next(self.numbers)
        entrant = Entrant("tester", f"agent-{number}", "", "", "cpp", {})
        with Session(self.owner) as session:
            board = session.scalars(select(Board)).one()
            submission = portal_data.add_submission(session, board, entrant, number, datetime.now(UTC))
            session.commit()
            return session.scalars(select(Run.id).where(Run.submission_id == submission.id)).one()

    def run(self, run_id: int) -> Run:
        """The run as it is now."""
        with Session(self.owner) as session:
            return session.get_one(Run, run_id)

    def submission(self, run_id: int) -> Submission:
        """The run's submission as it is now."""
        with Session(self.owner) as session:
            return session.get_one(Submission, session.get_one(Run, run_id).submission_id)


@pytest.fixture(scope="module")
def queue(database_url: str, worker_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Queue]:
    owner, worker = make_engine(database_url), make_engine(worker_database_url)
    suite = portal_data.small_suite()
    with Session(owner) as session:
        portal_data.add_board(session, suite, tmp_path_factory.mktemp("storage"))
        session.commit()
    yield Queue(owner, Database(worker), suite)
    owner.dispose()
    worker.dispose()


@pytest.fixture
def storage(tmp_path: Path) -> Path:
    folder = tmp_path / "storage"
    folder.mkdir()
    return folder


Waiter = Callable[[Callable[[], bool]], None]
