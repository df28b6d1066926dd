from __future__ import annotations

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kernel_eval.errors import NotMeasured
from kernel_eval.model import FlagId, Provenance, Severity
from kernel_eval.score import Decision, counted_hap, derived_baseline_us, score_case

TIMES = st.floats(min_value=1e-3, max_value=1e9)
PENDING, APPROVED, REJECTED = Decision.PENDING, Decision.APPROVED, Decision.REJECTED


@pytest.mark.parametrize(
    ("baseline", "limit", "candidate", "hap", "published", "flags"),
    [
        # at the baseline, at the limit, between them, and slower than the baseline
        (20, 10, 20, 0.5, 0.5, []),
        (20, 10, 10, 1.0, 1.0, []),
        (20, 10, 15, 10 / 15, 10 / 15, []),
        (20, 10, 110, 10 / 110, 10 / 110, []),
        # faster than the limit: shown uncapped, counted as 1, a person looks
        (30, 10, 9, 20 / 19, 1.0, [("faster_than_limit", "review")]),
        (30, 10, 5, 20 / 15, 1.0, [("faster_than_limit", "review")]),
        # faster than half the limit holds the operator
        (30, 10, 4.99, 20 / 14.99, 1.0, [("faster_than_limit", "hold")]),
        # the pole at 2 T_HW − T_base = 5 and beyond
        (15, 10, 5.5, 5 / 0.5, 1.0, [("faster_than_limit", "review")]),
        (15, 10, 5, 2.0, 1.0, [("faster_than_limit", "review")]),
        (15, 10, 4, 2.0, 1.0, [("faster_than_limit", "hold")]),
        # anchors that contradict each other: by the baseline alone
        (10, 9.6, 10, 0.5, 0.5, [("anchor_contradiction", "note")]),
        (10, 10, 5, 10 / 15, 10 / 15, [("anchor_contradiction", "note")]),
        (10, 30, 20, 10 / 30, 10 / 30, [("anchor_contradiction", "note")]),
        # 5 % of room is just enough
        (10, 9.5, 10, 0.5, 0.5, []),
    ],
)
def test_every_corner_of_the_formula_is_decided(baseline, limit, candidate, hap, published, flags) -> None:
    score = score_case(baseline, limit, candidate)
    assert score.hap == pytest.approx(hap)
    assert score.published == pytest.approx(published)
    assert [(concern.flag, concern.severity) for concern in score.concerns] == flags


@pytest.mark.parametrize(("limit", "expected"), [(0.5, 10.0), (1.0, 10.0), (7.0, 70.0)])
def test_a_missing_baseline_is_derived_from_the_limit_and_marked(limit: float, expected: float) -> None:
    score = score_case(None, limit, expected)
    assert derived_baseline_us(limit) == score.baseline_us == expected
    assert score.provenance is Provenance.DERIVED
    assert score.hap == 0.5


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 0.0, -1.0])
@pytest.mark.parametrize("whose", [0, 1, 2])
def test_times_that_are_no_times_never_enter_a_score(bad: float, whose: int) -> None:
    times: list[float] = [20.0, 10.0, 15.0]
    times[whose] = bad
    with pytest.raises(NotMeasured, match=["baseline", "limit", "candidate"][whose]):
        score_case(*times)


@pytest.mark.parametrize(
    ("value", "decision", "counts"),
    [
        (1.3, PENDING, 1.0),
        (1.3, APPROVED, 1.3),
        (9.0, APPROVED, 2.0),
        (1.3, REJECTED, 0.0),
        (0.7, PENDING, 0.7),
        (0.7, APPROVED, 0.7),
        (0.7, REJECTED, 0.7),
        (1.0, REJECTED, 1.0),
    ],
)
def test_what_a_decision_makes_of_a_case_faster_than_the_limit(value, decision, counts) -> None:
    assert counted_hap(value, decision) == counts


@given(baseline=TIMES, limit=TIMES, candidate=TIMES)
def test_a_published_case_score_always_lies_between_zero_and_one(baseline, limit, candidate) -> None:
    score = score_case(baseline, limit, candidate)
    assert 0 <= score.published <= 1
    assert math.isfinite(score.hap)
    assert score.hap >= score.published


@given(baseline=TIMES, limit=TIMES, fast=TIMES, slow=TIMES)
def test_a_faster_candidate_never_counts_less(baseline, limit, fast, slow) -> None:
    assume(fast <= slow)
    assert score_case(baseline, limit, fast).published >= score_case(baseline, limit, slow).published


@given(limit=TIMES, room=st.floats(min_value=0.06, max_value=100))
def test_the_baseline_scores_a_half_and_the_limit_one(limit: float, room: float) -> None:
    baseline = limit * (1 + room)
    assert score_case(baseline, limit, baseline).hap == pytest.approx(0.5)
    assert score_case(baseline, limit, limit).hap == pytest.approx(1.0)


@given(baseline=TIMES, limit=TIMES, candidate=TIMES)
def test_no_case_beats_its_limit_without_a_flag(baseline, limit, candidate) -> None:
    score = score_case(baseline, limit, candidate)
    assert score.hap <= 1 or score.concerns[0].flag is FlagId.FASTER_THAN_LIMIT
    assert candidate >= limit or score.concerns


@given(limit=TIMES, candidate=TIMES)
def test_faster_than_half_the_limit_is_always_held(limit: float, candidate: float) -> None:
    assume(candidate < limit / 2)
    assert score_case(2 * limit, limit, candidate).concerns[0].severity is Severity.HOLD


@given(TIMES, TIMES)
def test_without_a_limit_the_baseline_alone_decides(baseline: float, candidate: float) -> None:
    score = score_case(baseline, None, candidate)
    assert score.hap == score.published == baseline / (candidate + baseline)
    assert score.concerns == ()
    assert score_case(baseline, None, baseline).hap == 0.5


@pytest.mark.parametrize("baseline", [None, 0.0, -1.0, math.nan, math.inf])
def test_without_a_limit_a_baseline_is_needed(baseline: float | None) -> None:
    with pytest.raises(NotMeasured, match="baseline"):
        score_case(baseline, None, 1.0)
