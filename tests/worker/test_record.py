"""A report becomes rows; of hidden cases the portal's role reads coarse counts and nothing else."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import psycopg
import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.lifecycle import RunStatus
from app.models import AnchorRow, Board, CaseResult, FlagRow, HiddenAnchorRow, HiddenCaseResult, OperatorResult
from app.runs import service
from kernel_eval.model import Split, Verdict
from tests.factories.judged_reports import Kernel, report_on
from tests.worker.conftest import Queue
from worker import anchors
from worker.record import Judged, measured_baselines, rows_of, run_report, shown_verdict

pytestmark = pytest.mark.database


def recorded(queue: Queue, kernels: dict[str, Kernel]) -> int:
    """Claims a run and records a report on it; the run's id."""
    run_id = queue.add()
    judged = Judged(report_on(queue.suite, kernels, seed=run_id), dict.fromkeys(kernels, "digest"))
    now = datetime.now(UTC)
    with queue.worker.session() as session:
        lease = service.claim(session, "cpu", "worker-1", now, 30.0)
        assert lease is not None
        session.add_all(rows_of(judged, lease.run_id))
        service.finish(session, lease, now, run_report(judged.report))
    return run_id


def everything(queue: Queue, kernel: Kernel) -> dict[str, Kernel]:
    return {operator.name: kernel for operator in queue.suite.operators}


def test_a_run_is_recorded_whole(queue: Queue) -> None:
    run_id = recorded(queue, everything(queue, Kernel(0.5)))
    with Session(queue.owner) as session:
        counts = [
            session.scalar(select(func.count()).select_from(kind).where(kind.run_id == run_id))
            for kind in (OperatorResult, CaseResult, HiddenCaseResult)
        ]
    operators = len(queue.suite.operators)
    assert counts == [operators, operators * 20, operators * 80]
    assert queue.run(run_id).status is RunStatus.FINISHED


def test_the_portals_role_cannot_read_hidden_rows(queue: Queue, app_database_url: str) -> None:
    recorded(queue, everything(queue, Kernel(0.5)))
    plain = app_database_url.replace("+psycopg", "")
    for table in ("case_results", "anchor_rows"):
        with psycopg.connect(plain) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(f"SELECT 1 FROM hidden.{table}")


def test_public_rows_tell_hidden_cases_in_coarse_counts_only(queue: Queue) -> None:
    report = report_on(queue.suite, everything(queue, Kernel(0.5)), seed=7)
    rows = rows_of(Judged(report, {}), 1)
    public = [row for row in rows if isinstance(row, CaseResult)]
    assert public
    assert {row.detail["split"] for row in public} == {str(Split.PUBLIC)}
    for row in rows:
        if isinstance(row, OperatorResult):
            assert row.hidden_passed_coarse is not None
            assert row.hidden_passed_coarse % 5 == 0
            assert row.score is not None
            assert round(row.score, 1) == row.score
        if isinstance(row, FlagRow) and row.case_id is None:
            assert row.evidence == {}
    assert "hidden" not in str(run_report(report).get("operators", ""))


def test_an_operator_that_fails_on_hidden_cases_alone_shows_its_public_verdict(queue: Queue) -> None:
    report = report_on(queue.suite, everything(queue, Kernel(0.5)), seed=8)
    whole = report.operators[0]
    changed = [
        case if case.split is Split.PUBLIC else type(case)(**{**vars(case), "verdict": Verdict.CRASHED})
        for case in whole.cases
    ]
    failing = type(whole)(**{**vars(whole), "cases": tuple(changed), "verdict": Verdict.CRASHED, "solved": False})
    assert shown_verdict(failing) is Verdict.ACCEPTED


def test_the_first_measured_baseline_stays_and_later_ones_do_not_change_it(queue: Queue) -> None:
    with queue.worker.session() as session:
        board = session.scalars(select(Board)).one()
        assert board.anchors_id is not None
        before = anchors.load(session, board)
        assert before is not None
        assert {anchor.provenance for anchor in before.anchors.values()} == {"derived"}
        first = measured_baselines(report_on(queue.suite, everything(queue, Kernel(0.5)), seed=1).operators)
        assert anchors.record_baselines(session, board.anchors_id, first, datetime.now(UTC)) == len(queue.suite.cases)
    with queue.worker.session() as session:
        second = {key: value * 2 for key, value in first.items()}
        assert anchors.record_baselines(session, board.anchors_id, second, datetime.now(UTC)) == 0
        after = anchors.load(session, session.scalars(select(Board)).one())
    assert after is not None
    assert {key: anchor.baseline_us for key, anchor in after.anchors.items()} == {
        f"{operator}/{split}/{case_id}": value for (operator, split, case_id), value in first.items()
    }
    with Session(queue.owner) as session:
        public, hidden = (
            session.scalar(select(func.count()).select_from(kind)) for kind in (AnchorRow, HiddenAnchorRow)
        )
    assert (public, hidden) == (len(queue.suite.operators) * 20, len(queue.suite.operators) * 80)


def test_a_case_without_a_time_shows_the_baseline_that_was_measured_before(queue: Queue) -> None:
    report = report_on(queue.suite, everything(queue, Kernel(0.5)), seed=1)
    first = report.operators[0]
    untimed = replace(first.cases[0], verdict=Verdict.WRONG_VALUES, candidate=None, baseline=None, anchor_us=12.5)
    changed = replace(report, operators=(replace(first, cases=(untimed,)),))
    (row,) = (row for row in rows_of(Judged(changed, {}), 1) if isinstance(row, CaseResult))
    assert untimed.limit is not None
    assert (row.candidate_us, row.baseline_us, row.limit_us) == (None, 12.5, untimed.limit.limit_us)
