from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel_eval.model import Level, Verdict
from kernel_eval.score import Attempt, best_pool, noise_band, score_operator

from .conftest import MakeCase, measured


def attempts(*runs: tuple[str, float, float]) -> list[Attempt]:
    return [Attempt(f"run-{number}", *run) for number, run in enumerate(runs, start=1)]


@pytest.mark.parametrize(
    ("runs", "source", "score"),
    [
        ([("a", 70, 1)], "a", 70),
        # better by more than both bands together
        ([("a", 70, 1), ("b", 72.1, 1)], "b", 72.1),
        # inside the bands counts as equal
        ([("a", 70, 1), ("b", 72, 1)], "a", 70),
        ([("a", 70, 1), ("b", 60, 1)], "a", 70),
        # the same source again pools by the median, up or down
        ([("a", 70, 1), ("a", 74, 1)], "a", 72),
        ([("a", 70, 1), ("a", 74, 1), ("a", 60, 1)], "a", 70),
        # one lucky run of a source does not carry it
        ([("a", 70, 1), ("b", 71, 1), ("b", 74, 1), ("b", 71, 1)], "b", 71),
        # the holder's median fell below another source by more than the bands
        ([("a", 80, 1), ("b", 78, 1), ("a", 70, 1)], "b", 78),
    ],
)
def test_the_standing_run_changes_only_beyond_the_noise(runs, source, score) -> None:
    best = best_pool(attempts(*runs))
    assert best is not None
    assert (best.source, best.score) == (source, score)


def test_a_pool_names_all_its_runs() -> None:
    best = best_pool(attempts(("a", 70, 1), ("b", 10, 1), ("a", 72, 3)))
    assert best is not None
    assert (best.runs, best.band) == (("run-1", "run-3"), 2)


def test_no_attempt_no_standing() -> None:
    assert best_pool([]) is None


def test_the_noise_band_adds_the_cases_in_quadrature(make_case: MakeCase) -> None:
    # s at 19 and 21 µs is 10/19 and 10/21: half their distance is the case's half width
    half = (10 / 19 - 10 / 21) / 2
    cases = [make_case(number, candidate=measured(20.0, (19.0, 21.0))) for number in range(1, 5)]
    result = score_operator("exp", Level.L1, cases, 4)
    assert noise_band(result) == pytest.approx(50 / 4 * (4 * half**2) ** 0.5)


def test_an_uncertain_baseline_widens_the_band(make_case: MakeCase) -> None:
    certain = score_operator("exp", Level.L1, [make_case(1, candidate=measured(20.0, (19.0, 21.0)))], 1)
    case = make_case(1, candidate=measured(20.0, (19.0, 21.0)), baseline=measured(20.0, (18.0, 22.0)))
    assert noise_band(score_operator("exp", Level.L1, [case], 1)) > noise_band(certain) > 0


def test_failed_cases_have_no_noise(make_case: MakeCase) -> None:
    case = make_case(1, verdict=Verdict.WRONG_VALUES, candidate=measured(20.0, (1.0, 40.0)))
    assert noise_band(score_operator("exp", Level.L1, [case], 1)) == 0


@given(runs=st.lists(st.tuples(st.sampled_from("abc"), st.floats(0, 100), st.floats(0, 5)), min_size=1, max_size=12))
def test_the_standing_is_never_worse_than_another_pool_beyond_the_noise(runs) -> None:
    best = best_pool(attempts(*runs))
    assert best is not None
    for source in {run[0] for run in runs}:
        other = best_pool(attempts(*[run for run in runs if run[0] == source]))
        assert other is not None
        assert other.score <= best.score + best.band + other.band
