"""How long a batch is follows from what was timed before."""

from __future__ import annotations

import math

import pytest

from kernel_eval.timing.cpu import score_width
from kernel_eval.timing.pace import FULL_BATCH_US, Pace, Side
from kernel_eval.timing.plan import Plan

PLAN = Plan(count=500, known=4, bytes_per_call=1 << 16)


def test_a_first_case_goes_by_its_bytes() -> None:
    assert Pace().calls("mish", Side.BASELINE, 40.0, PLAN) == FULL_BATCH_US / 40


def test_slow_calls_fill_a_batch_with_fewer() -> None:
    pace = Pace()
    pace.learn("mish", Side.BASELINE, 400.0, 40.0)
    assert pace.calls("mish", Side.BASELINE, 40.0, PLAN) == FULL_BATCH_US / 400
    assert pace.calls("mish", Side.CANDIDATE, 40.0, PLAN) == FULL_BATCH_US / 40
    assert pace.calls("gelu", Side.BASELINE, 40.0, PLAN) == FULL_BATCH_US / 40


def test_the_middle_case_sets_the_pace() -> None:
    pace = Pace()
    for measured_us in (40.0, 80.0, 4_000.0):
        pace.learn("mish", Side.BASELINE, measured_us, 40.0)
    assert pace.calls("mish", Side.BASELINE, 40.0, PLAN) == FULL_BATCH_US / 80


def test_a_batch_stays_within_the_pool_and_holds_decoys_beside_the_known() -> None:
    assert Pace().calls("mish", Side.BASELINE, 0.1, PLAN) == PLAN.count
    assert Pace().calls("mish", Side.BASELINE, 1e9, PLAN) == 2 * PLAN.known
    assert Pace().calls("mish", Side.BASELINE, 1e9, Plan(2, 2, 1 << 26)) == 2


def test_a_score_is_as_wide_as_both_sides_intervals_make_it_together() -> None:
    def score(baseline_us: float, candidate_us: float) -> float:
        return baseline_us / (baseline_us + candidate_us)

    assert score_width(score, [10.0, 10.0, 10.0], [30.0, 30.0, 30.0]) == 0.0
    assert score_width(score, [10.0, 15.0, 20.0], [30.0, 30.0, 30.0]) == pytest.approx(30 / 40 - 30 / 50)
    assert score_width(score, [15.0, 15.0, 15.0], [20.0, 25.0, 30.0]) == pytest.approx(30 / 45 - 20 / 35)
    both = score_width(score, [10.0, 15.0, 20.0], [20.0, 25.0, 30.0])
    assert both == pytest.approx(math.hypot(25 / 35 - 25 / 45, 30 / 45 - 20 / 35))
