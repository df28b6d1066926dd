"""Coarse figures, ids, citations and expected waits: pure functions."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.runs.citation import Cited, citation
from app.runs.coarse import Counts, coarse_percent, shown_axes
from app.runs.ids import ResultId, parse_result_id, result_id, submission_id
from app.runs.waiting import QueueFigures, expected_wait_s


@given(st.integers(0, 80))
def test_hidden_counts_are_told_in_steps_of_five_rounded_down(passed: int) -> None:
    percent = coarse_percent(passed, 80)
    assert percent is not None
    assert percent % 5 == 0
    assert percent <= passed * 100 / 80 < percent + 5
    assert (percent == 100) == (passed == 80)


def test_without_hidden_cases_nothing_is_told_of_them() -> None:
    assert coarse_percent(0, 0) is None


@given(passed=st.integers(0, 80), public=st.integers(0, 20), performance=st.floats(0, 50))
def test_axes_add_up_to_the_shown_score_and_follow_from_coarse_counts_alone(
    passed: int, public: int, performance: float
) -> None:
    score = 20 + 30 * (public + passed) / 100 + performance
    axes = shown_axes(score, 20.0, Counts(public, 20, coarse_percent(passed, 80), 80))
    parts = [axes.compile_points, axes.correct_points, axes.performance_points]
    assert sum(part or 0.0 for part in parts) == pytest.approx(round(score, 1))
    assert all(part is not None and part >= 0 for part in parts)
    step = passed * 100 // 80 // 5 * 5
    assert axes.correct_points == pytest.approx(30 * (public + 0.8 * step) / 100, abs=0.06)


def test_axes_of_an_unscored_or_failed_operator() -> None:
    none = shown_axes(None, None, Counts(0, 20, None, 0))
    assert (none.compile_points, none.correct_points, none.performance_points) == (None, None, None)
    zero = shown_axes(0.0, 0.0, Counts(0, 20, 0, 80))
    assert (zero.compile_points, zero.correct_points, zero.performance_points) == (0.0, 0.0, 0.0)
    compiled = shown_axes(20.0, 20.0, Counts(0, 20, 0, 80))
    assert (compiled.compile_points, compiled.correct_points, compiled.performance_points) == (20.0, 0.0, 0.0)


@given(st.integers(1, 10**7), st.integers(1, 99))
def test_ids_read_back(number: int, run: int) -> None:
    public_id = submission_id("DEMO", 2026, number)
    assert parse_result_id(result_id(public_id, run)) == ResultId(public_id, run)


@pytest.mark.parametrize(
    "text", ["", "HB-DEMO-2026-1", "HB-DEMO-2026-000001-r0", "hb-demo-2026-000001", "../x", "HB-X"]
)
def test_what_is_no_id_is_none(text: str) -> None:
    assert parse_result_id(text) is None


def test_a_citation_names_result_date_and_score_and_is_sound_bibtex() -> None:
    made = citation(
        Cited(
            result="HB-DEMO-2026-000123",
            entry="100% {Kernel}_Smith & Co",
            user="ada",
            board="CANN Bench small · cpu",
            total=612.34,
            held=0,
            judged_at=datetime(2026, 11, 30, tzinfo=UTC),
            url="https://b.example/results/HB-DEMO-2026-000123",
        )
    )
    assert "on hold" not in made.text
    assert "HB-DEMO-2026-000123, 2026-11-30" in made.text
    assert "612.3" in made.bibtex
    assert made.bibtex.startswith("@misc{hbdemo2026000123,")
    assert r"100\% \{Kernel\}\_Smith \& Co" in made.bibtex
    assert made.bibtex.count("{") == made.bibtex.count("}")


def test_nothing_is_expected_without_workers_or_experience() -> None:
    assert expected_wait_s(1, QueueFigures([], [], 1)) is None
    assert expected_wait_s(1, QueueFigures([60.0], [], 0)) is None


def test_waits_follow_from_durations_positions_and_workers() -> None:
    steady = [100.0] * 5
    assert expected_wait_s(1, QueueFigures(steady, [], 1)) == (100, 100)
    assert expected_wait_s(3, QueueFigures(steady, [], 1)) == (300, 300)
    assert expected_wait_s(1, QueueFigures(steady, [40.0], 1)) == (160, 160)
    assert expected_wait_s(1, QueueFigures(steady, [500.0], 1)) == (100, 100)
    assert expected_wait_s(2, QueueFigures(steady, [40.0], 2)) == (160, 160)
    low, high = expected_wait_s(1, QueueFigures([50.0, 100.0, 400.0], [], 1)) or (0, 0)
    assert 50 <= low < high <= 400


@given(st.lists(st.floats(1, 1000), min_size=1, max_size=20), st.integers(1, 4), st.integers(1, 20))
def test_a_later_place_never_waits_shorter(durations: list[float], workers: int, position: int) -> None:
    figures = QueueFigures(durations, [], workers)
    earlier, later = expected_wait_s(position, figures), expected_wait_s(position + 1, figures)
    assert earlier is not None
    assert later is not None
    assert earlier[0] <= later[0]
    assert earlier[1] <= later[1]
    assert earlier[0] <= earlier[1]
