from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel_eval.model import (
    CaseResult,
    Flag,
    FlagId,
    Level,
    Measurement,
    MeasurementState,
    OperatorResult,
    Severity,
    Split,
    Verdict,
)
from kernel_eval.score import Weights, rescore_operator, score_operator

from .conftest import MakeCase, measured, new_case

WRONG, STRUCTURE, CRASHED = Verdict.WRONG_VALUES, Verdict.WRONG_STRUCTURE, Verdict.CRASHED


def scored(cases: list[CaseResult], count: int | None = None, **other: object) -> OperatorResult:
    return score_operator("exp", Level.L1, cases, count or len(cases), **other)  # type: ignore[arg-type]


def all_cases(make_case: MakeCase, **same: object) -> list[CaseResult]:
    return [make_case(number, **same) for number in range(1, 101)]


def test_compiling_alone_is_worth_twenty(make_case: MakeCase) -> None:
    assert scored(all_cases(make_case, verdict=WRONG)).score == 20


def test_all_correct_at_the_baseline_is_worth_seventy_five(make_case: MakeCase) -> None:
    assert scored(all_cases(make_case, candidate_us=20.0)).score == pytest.approx(75)


def test_all_at_the_limit_is_worth_a_hundred(make_case: MakeCase) -> None:
    result = scored(all_cases(make_case, candidate_us=10.0))
    assert result.score == pytest.approx(100)
    assert (result.compile_points, result.correct_points, result.performance_points) == (20, 30, 50)
    assert result.solved


def test_the_three_axes_add_up_over_a_mixed_set(make_case: MakeCase) -> None:
    cases = [
        make_case(1, candidate_us=10.0),
        make_case(2, candidate_us=20.0),
        make_case(3, verdict=WRONG, candidate_us=None),
        make_case(4, verdict=CRASHED, candidate_us=None),
    ]
    result = scored(cases)
    assert (result.compile_points, result.correct_points) == (20, 15)
    assert result.performance_points == pytest.approx(50 * 1.5 / 4)
    assert result.verdict is CRASHED
    assert not result.solved
    assert [case.published_hap for case in result.cases] == [1.0, 0.5, None, None]


@pytest.mark.parametrize(
    ("verdict", "points"),
    [(WRONG, 20), (STRUCTURE, 0), (CRASHED, 0), (Verdict.TIMED_OUT, 0), (Verdict.LOAD_FAILED, 0)],
)
def test_compile_points_need_one_answer_of_the_right_structure(make_case: MakeCase, verdict, points) -> None:
    cases = [make_case(1, verdict=verdict, candidate_us=None), make_case(2, verdict=CRASHED, candidate_us=None)]
    assert scored(cases).score == points


@pytest.mark.parametrize("verdict", [Verdict.BUILD_FAILED, Verdict.LOAD_FAILED])
def test_a_failed_build_is_worth_nothing_even_without_any_case(verdict: Verdict) -> None:
    result = scored([], 100, verdict=verdict, log_excerpt="error: expected ';'")
    assert (result.score, result.verdict, result.solved) == (0, verdict, False)
    assert result.log_excerpt == "error: expected ';'"


def test_one_tampering_case_voids_the_operator(make_case: MakeCase) -> None:
    assert scored([make_case(1), make_case(2, verdict=Verdict.TAMPERED)]).score == 0


def test_a_case_without_a_result_is_a_failed_case_and_no_smaller_set(make_case: MakeCase) -> None:
    result = scored([make_case(1, candidate_us=10.0)], 4)
    assert result.score == pytest.approx(20 + 30 / 4 + 50 / 4)
    assert not result.solved


def test_a_fault_of_ours_leaves_the_operator_without_points(make_case: MakeCase) -> None:
    result = scored([make_case(1), make_case(2, verdict=Verdict.INTERNAL_ERROR)])
    assert result.verdict is Verdict.INTERNAL_ERROR
    assert (result.score, result.compile_points, result.correct_points, result.performance_points) == (None,) * 4


@pytest.mark.parametrize(
    "lost",
    [
        {"candidate": None},
        {"candidate": Measurement(MeasurementState.NOT_MEASURED, message="the clock stood still")},
        {"candidate": measured(math.nan)},
        {"candidate": measured(0.0)},
        {"baseline": measured(math.inf)},
        {"limit": None},
    ],
)
def test_an_accepted_case_that_lost_its_time_is_our_fault(make_case: MakeCase, lost) -> None:
    result = scored([make_case(1), make_case(2, **lost)])
    assert result.score is None
    assert result.cases[1].verdict is Verdict.INTERNAL_ERROR
    assert result.cases[1].message


def test_a_case_that_executed_nothing_of_its_own_is_correct_but_earns_no_performance(make_case: MakeCase) -> None:
    result = scored([make_case(1, candidate=Measurement(MeasurementState.NOT_EXECUTED))])
    assert (result.score, result.cases[0].hap, result.verdict) == (50, 0.0, Verdict.ACCEPTED)


def test_a_run_without_timing_has_no_performance_and_no_score(make_case: MakeCase) -> None:
    result = scored([make_case(1, candidate_us=None), make_case(2, candidate_us=None)], timed=False)
    assert (result.compile_points, result.correct_points) == (20, 30)
    assert (result.performance_points, result.score, result.solved) == (None, None, True)


@pytest.mark.parametrize(("faster", "held"), [(5, False), (6, True)])
def test_more_than_a_twentieth_faster_than_the_limit_holds_the_operator(make_case: MakeCase, faster, held) -> None:
    cases = [make_case(number, candidate_us=9.0 if number <= faster else 12.0) for number in range(1, 101)]
    result = scored(cases)
    assert [flag.severity for flag in result.flags] == [Severity.HOLD] * held
    assert sum(bool(case.flags) for case in result.cases) == faster
    assert all(flag.severity is Severity.REVIEW for case in result.cases for flag in case.flags)


@pytest.mark.parametrize(
    ("attempts", "held"),
    [([False, False], True), ([False, None], True), ([False, True], False), ([None, None], False), ([True], False)],
)
def test_outputs_that_never_vary_hold_the_operator(make_case: MakeCase, attempts, held) -> None:
    cases = [make_case(number, verdict=WRONG, attempted=tried) for number, tried in enumerate(attempts)]
    assert [flag.id for flag in scored(cases).flags] == [FlagId.NO_ATTEMPT] * held


def test_speed_up_is_the_geometric_mean_over_accepted_cases(make_case: MakeCase) -> None:
    cases = [
        make_case(1, candidate_us=10.0, baseline_us=20.0),
        make_case(2, candidate_us=10.0, baseline_us=80.0),
        make_case(3, candidate_us=1.0, verdict=WRONG),
    ]
    assert scored(cases).speedup == pytest.approx(4.0)
    assert scored([make_case(1, verdict=WRONG)]).speedup is None


def test_weights_belong_to_the_board_and_must_share_one_whole(make_case: MakeCase) -> None:
    half = scored([make_case(1)], weights=Weights(0.0, 0.5, 0.5))
    assert half.score == pytest.approx(75)
    with pytest.raises(ValueError, match="sum to 1"):
        Weights(0.2, 0.3, 0.6)


@pytest.mark.parametrize(
    ("cases", "count", "message"),
    [([1, 1], 2, "two results"), ([1, 2], 1, "2 results for 1 cases"), ([], 5, "no case and no verdict")],
)
def test_a_set_that_cannot_be_the_suites_is_refused(make_case: MakeCase, cases, count, message) -> None:
    with pytest.raises(ValueError, match=message):
        score_operator("exp", Level.L1, [make_case(number) for number in cases], count)


def test_a_case_of_another_operator_is_refused(make_case: MakeCase) -> None:
    with pytest.raises(ValueError, match="gelu"):
        scored([replace(make_case(1), operator="gelu")])


def test_public_and_hidden_cases_of_one_number_are_two_cases(make_case: MakeCase) -> None:
    assert scored([make_case(1), make_case(1, split=Split.HIDDEN)]).correct_points == 30


OUTCOMES = st.lists(
    st.tuples(
        st.sampled_from([Verdict.ACCEPTED, WRONG, STRUCTURE, CRASHED, Verdict.TIMED_OUT]),
        st.floats(min_value=0.1, max_value=1e6),
        st.one_of(st.none(), st.floats(min_value=0.1, max_value=1e6)),
        st.floats(min_value=0.1, max_value=1e5),
    ),
    min_size=1,
    max_size=20,
)


def _cases(outcomes: list[tuple[Verdict, float, float | None, float]]) -> list[CaseResult]:
    return [
        new_case(number, candidate_us=own, baseline_us=base, limit_us=limit, verdict=verdict)
        for number, (verdict, own, base, limit) in enumerate(outcomes, start=1)
    ]


class TestWhateverTheOutcomes:
    @given(outcomes=OUTCOMES)
    def test_points_stay_within_their_axes(self, outcomes) -> None:
        result = scored(_cases(outcomes))
        assert 0 <= result.compile_points <= 20
        assert 0 <= result.correct_points <= 30
        assert 0 <= result.performance_points <= 50 + 1e-9
        assert result.score == pytest.approx(result.compile_points + result.correct_points + result.performance_points)

    @given(outcomes=OUTCOMES)
    def test_a_stored_result_scores_the_same_again(self, outcomes) -> None:
        flag = Flag(FlagId.OPAQUE_BINARY, Severity.REVIEW, "exp", None, "built elsewhere")
        result = scored(_cases(outcomes), flags=[flag])
        assert rescore_operator(result) == result
