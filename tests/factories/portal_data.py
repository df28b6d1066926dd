"""A portal's database with a board on it: real suite and operators, entries whose runs were recorded and published.

Everything is written by the services that the worker and the portal use.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.entries.service import entry_for
from app.lifecycle import SubmissionStatus
from app.models import Artifact, Board, Mode, Submission, User, Visibility, WorkerState
from app.runs import service as runs
from app.runs.lease import Lease
from app.submissions.happenings import Happening, advance, tell
from app.workers import service as workers
from kernel_eval.model import Suite, Verdict
from kernel_eval.suite import default_bench_data, load_suite
from tests.factories.judged_reports import PEAKS, Kernel, report_on, with_hidden_cases
from worker import anchors
from worker.record import Judged, measured_baselines, rows_of, run_report
from worker.register import register
from worker.settings import WorkerSettings

SUITE: Final = "cann-bench-small"
START: Final = datetime(2026, 11, 24, 8, 15, tzinfo=UTC)
LEASE_S: Final = 30.0


@dataclass(frozen=True)
class Entrant:
    """Somebody with a kernel per operator, judged on a steady host or another."""

    user: str
    agent: str
    model: str
    harness: str
    dsl: str
    kernels: Mapping[str, Kernel]
    steady: bool = True


def small_suite() -> Suite:
    """The small suite with hidden cases."""
    return with_hidden_cases(load_suite(default_bench_data(), SUITE))


def add_board(session: Session, suite: Suite, folder: Path, now: datetime = START) -> Board:
    """Register the suite's board as a worker does."""
    settings = WorkerSettings(database_url="unused", broker_url="unused", storage_dir=folder, worker_threads=2)
    board = register(session, settings, suite, PEAKS, now)
    workers.announce(
        session,
        "eval-1",
        "cpu",
        datetime.now(UTC),
        fingerprint=PEAKS.fingerprint(),
        versions={"judge": "0.1.0", "torch": "2.13.0"},
        state=WorkerState.UP,
    )
    return board


def user_named(session: Session, name: str) -> User:
    """That user, made where there is none."""
    user = session.scalars(select(User).where(User.name == name)).one_or_none()
    if user is None:
        user = User(name=name)
        session.add(user)
        session.flush()
    return user


def add_submission(
    session: Session,
    board: Board,
    entrant: Entrant,
    number: int,
    now: datetime,
    *,
    mode: Mode = Mode.RANKED,
    visibility: Visibility = Visibility.PUBLIC,
    note: str = "",
) -> Submission:
    """A received and queued submission of the entrant."""
    user = user_named(session, entrant.user)
    entry = entry_for(
        session, user.id, user.name,
        agent=entrant.agent, model=entrant.model, harness=entrant.harness, dsl=entrant.dsl,
    )  # fmt: skip
    session.flush()
    sha256 = hashlib.sha256(f"{entrant.agent}/{number}".encode()).hexdigest()
    session.add(Artifact(sha256=sha256, size_bytes=18_432 + number, filename="kernels.tar.gz", stored_at=now))
    session.flush()
    submission = Submission(
        public_id=f"HB-DEMO-2026-{number:06d}",
        user_id=user.id,
        entry_id=entry.id,
        board_id=board.id,
        artifact_sha256=sha256,
        filename="kernels.tar.gz",
        status=SubmissionStatus.RECEIVED,
        mode=mode,
        visibility=visibility,
        note=note,
        idempotency_key=None,
        request_digest=sha256,
        received_at=now,
    )
    session.add(submission)
    session.flush()
    tell(session, submission.id, Happening.RECEIVED, now)
    runs.enqueue(session, submission, now + timedelta(milliseconds=200))
    advance(session, submission, SubmissionStatus.QUEUED, now + timedelta(milliseconds=200), data={"run": 1})
    return submission


def start(session: Session, board: Board, now: datetime, cases_done: int | None = None) -> Lease:
    """A worker takes the next run and builds it; with `cases_done`, that many public cases are judged."""
    lease = runs.claim(session, board.hardware, "eval-1", now, LEASE_S)
    assert lease is not None, "nothing is queued"
    runs.record_progress(session, lease, Happening.BUILDING, now + timedelta(seconds=0.3))
    if cases_done is not None:
        built = {"succeeded": True, "seconds": 18.4, "message": ""}
        runs.record_progress(session, lease, Happening.BUILT, now + timedelta(seconds=19), built)
        done = {"done": cases_done, "total": 160}
        runs.record_progress(session, lease, Happening.PUBLIC_CASES, now + timedelta(seconds=30), done)
    return lease


def publish(session: Session, board: Board, suite: Suite, entrant: Entrant, number: int, now: datetime) -> Submission:
    """A submission with its whole way behind it."""
    submission = add_submission(session, board, entrant, number, now)
    lease = start(session, board, now + timedelta(seconds=1), cases_done=160)
    ticks = {"position": len(entrant.kernels), "total": len(entrant.kernels)}
    runs.record_progress(session, lease, Happening.HIDDEN_CASES, now + timedelta(seconds=60), ticks)
    record(session, suite, entrant, lease, now + timedelta(seconds=251), seed=number)
    return submission


def record(session: Session, suite: Suite, entrant: Entrant, lease: Lease, now: datetime, seed: int) -> None:
    """The judge's report on the entrant's kernels is recorded and published, as the worker does it."""
    report = report_on(suite, entrant.kernels, seed=seed, steady=entrant.steady)
    sources = {name: hashlib.sha256(f"{entrant.agent}/{name}/{seed}".encode()).hexdigest() for name in entrant.kernels}
    judged = Judged(report, sources)
    session.add_all(rows_of(judged, lease.run_id))
    board = session.scalars(select(Board).where(Board.slug == lease.board)).one()
    assert board.anchors_id is not None
    anchors.record_baselines(session, board.anchors_id, measured_baselines(report.operators), now)
    runs.finish(session, lease, now, run_report(report))


def everywhere(suite: Suite, skill: float, **special: Kernel) -> dict[str, Kernel]:
    """The same skill on every operator, but for the special ones."""
    return {operator.name: special.get(operator.name, Kernel(skill)) for operator in suite.operators}


def usual_entrants(suite: Suite) -> tuple[Entrant, ...]:
    """A handful of entries, from good to poor, with failures of every kind."""
    wrong = Kernel(0.3, {3: Verdict.WRONG_VALUES, 7: Verdict.WRONG_VALUES, 11: Verdict.WRONG_STRUCTURE})
    shaky = Kernel(0.2, {2: Verdict.CRASHED, 9: Verdict.TIMED_OUT})
    broken = Kernel(whole=Verdict.BUILD_FAILED)
    some = {name: Kernel(-0.6) for name in ("exp", "sigmoid", "mish")}
    return (
        Entrant(
            "lin",
            "KernelSmith",
            "orca-4-large",
            "smith-loop 2.1",
            "cpp",
            everywhere(suite, 0.82, exp=Kernel(0.82, unstable=frozenset({6}))),
        ),
        Entrant(
            "ada", "Tilewright", "maple-70b", "tile-agent", "cpp", everywhere(suite, 0.71, mish=wrong), steady=False
        ),
        Entrant("noor", "AutoVec", "orca-4-mini", "", "cpp", everywhere(suite, 0.45, gelu=broken, foreach_norm=shaky)),
        Entrant(
            "wei",
            "昇腾小匠",
            "qilin-2",
            "self-refine",
            "cpp",
            everywhere(suite, 0.12, exp=Kernel(0.8, beyond=frozenset({4}))),
        ),
        Entrant("maria", "first-try", "", "", "triton", some),
    )


def fill(session: Session, board: Board, suite: Suite) -> tuple[Submission, ...]:
    """All usual entrants published on the board, a day apart."""
    return tuple(
        publish(session, board, suite, entrant, number, START + timedelta(days=number, minutes=37 * number))
        for number, entrant in enumerate(usual_entrants(suite), start=1)
    )
