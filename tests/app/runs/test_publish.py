"""What of a finished run stands on its board."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select

from app.boards.service import StandingsQuery, operator_standings_view, standings_view
from app.entries.service import history_view
from app.lifecycle import SubmissionStatus
from app.models import Board, Mode, OperatorResult, Publication, Standing, StandingEvent, Visibility
from app.web.views.board import runs_words
from tests.app.runs.conftest import Bench, judged

pytestmark = pytest.mark.database


def stands(bench: Bench, run_id: int) -> dict[str, float]:
    """Scores of the run's entry on the board, by operator."""
    entry = bench.submission(run_id).entry_id
    with bench.owner.session() as session:
        rows = session.scalars(select(Standing).where(Standing.entry_id == entry))
        return {row.operator: row.score for row in rows}


def version(bench: Bench) -> int:
    with bench.owner.session() as session:
        return session.scalars(select(Board.version)).one()


def publications(bench: Bench, run_id: int) -> dict[str, Publication]:
    with bench.owner.session() as session:
        rows = session.scalars(select(OperatorResult).where(OperatorResult.run_id == run_id))
        return {row.operator: row.publication for row in rows}


def test_a_first_result_stands_and_the_board_changes_once(bench: Bench) -> None:
    before = version(bench)
    run_id, status = judged(bench, 0, "First", {"exp": 80.0, "gelu": 61.5})
    assert status is SubmissionStatus.PUBLISHED
    assert stands(bench, run_id) == {"exp": 80.0, "gelu": 61.5}
    assert version(bench) == before + 1
    with bench.owner.session() as session:
        events = session.scalars(select(StandingEvent).where(StandingEvent.run_id == run_id)).all()
        assert {(event.operator, event.score) for event in events} == {("exp", 80.0), ("gelu", 61.5)}


def test_another_source_takes_over_only_outside_the_noise_of_both(bench: Bench) -> None:
    first, _ = judged(bench, 0, "Noisy", {"exp": 80.0}, source="one", noise=1.0)
    judged(bench, 10, "Noisy", {"exp": 81.9}, source="two", noise=1.0)
    assert stands(bench, first) == {"exp": 80.0}
    judged(bench, 20, "Noisy", {"exp": 82.5}, source="three", noise=1.0)
    assert stands(bench, first) == {"exp": 82.5}
    judged(bench, 30, "Noisy", {"exp": 60.0}, source="four", noise=1.0)
    assert stands(bench, first) == {"exp": 82.5}


def test_running_the_same_sources_again_is_no_lottery(bench: Bench) -> None:
    first, _ = judged(bench, 0, "Lucky", {"exp": 80.0})
    judged(bench, 10, "Lucky", {"exp": 90.0})
    judged(bench, 20, "Lucky", {"exp": 81.0})
    assert stands(bench, first) == {"exp": 81.0}, "the median of 80, 90 and 81"


def test_a_board_row_tells_how_many_runs_its_score_is_the_median_of(bench: Bench) -> None:
    for start, score in enumerate((80.0, 90.0, 81.0)):
        judged(bench, 10 * start, "Pooled", {"exp": score, "gelu": 70.0})
    with bench.owner.session() as session:
        rows = standings_view(session, "cann-bench-small-cpu", StandingsQuery()).rows
        row = next(row for row in rows if row.entry.agent == "Pooled")
        exp = next(
            found
            for found in operator_standings_view(session, "cann-bench-small-cpu", "exp").rows
            if found.entry.agent == "Pooled"
        )
        history = [change.reason for change in history_view(session, row.entry.id).changes if change.operator == "exp"]
    assert row.attempts == 3
    assert {name: (placed.score, placed.runs) for name, placed in row.operators.items()} == {
        "exp": (81.0, 3),
        "gelu": (70.0, 3),
    }
    assert (exp.compile_points, exp.correct_points, exp.performance_points) == (20.0, 30.0, 31.0)
    assert row.operators["exp"].performance_points == 31.0
    assert "attempts: 3, medians of up to 3 runs" in runs_words(row, lambda text: text)
    assert history == [
        "first score",
        "median of 2 runs of the same sources",
        "median of 3 runs of the same sources",
    ]


def test_a_hold_withholds_its_operator_alone(bench: Bench) -> None:
    run_id, status = judged(bench, 0, "Held", {"exp": 80.0, "gelu": 99.0}, flags={"gelu": "hold", "exp": "review"})
    assert status is SubmissionStatus.PUBLISHED
    assert stands(bench, run_id) == {"exp": 80.0}
    assert publications(bench, run_id) == {"exp": Publication.STANDING, "gelu": Publication.HELD}


def test_a_submission_is_held_where_everything_of_it_is(bench: Bench) -> None:
    before = version(bench)
    run_id, status = judged(bench, 0, "All held", {"exp": 99.0}, flags={"exp": "hold"})
    assert status is SubmissionStatus.HELD
    assert stands(bench, run_id) == {}
    assert "decision" in bench.submission(run_id).message
    assert version(bench) == before + 1


def test_a_fault_of_ours_leaves_the_previous_score_standing(bench: Bench) -> None:
    first, _ = judged(bench, 0, "Steady", {"exp": 80.0})
    again, status = judged(bench, 10, "Steady", {"exp": None, "gelu": 70.0})
    assert status is SubmissionStatus.PUBLISHED
    assert stands(bench, first) == {"exp": 80.0, "gelu": 70.0}
    assert publications(bench, again)["exp"] is Publication.UNSCORED


@pytest.mark.parametrize(
    "asked", [{"mode": Mode.PRACTICE}, {"mode": Mode.PRACTICE, "visibility": Visibility.PRIVATE}], ids=str
)
def test_practice_never_stands(bench: Bench, asked: dict[str, Any]) -> None:
    before = version(bench)
    run_id, status = judged(bench, 0, f"Practice {asked}", {"exp": 99.0}, **asked)
    assert status is SubmissionStatus.PUBLISHED
    assert stands(bench, run_id) == {}
    assert publications(bench, run_id) == {"exp": Publication.UNRANKED}
    assert version(bench) == before


def test_a_failed_build_stands_with_nothing_and_is_a_result_all_the_same(bench: Bench) -> None:
    run_id, status = judged(bench, 0, "Broken", {"exp": 0.0})
    assert status is SubmissionStatus.PUBLISHED
    assert stands(bench, run_id) == {"exp": 0.0}
