from __future__ import annotations

import itertools
import math
import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel_eval.errors import NotMeasured
from kernel_eval.model import MeasurementState
from kernel_eval.timing.statistics import (
    bootstrap_interval,
    likely_interval,
    mad,
    measurement_of,
    median,
    narrow_enough,
    pooled,
    relative_width,
)

TIMES = st.lists(st.floats(min_value=1e-3, max_value=1e9), min_size=1, max_size=9)


@given(values=TIMES)
def test_the_median_is_the_middle_value(values: list[float]) -> None:
    assert median(values) == pytest.approx(statistics.median(values))


@pytest.mark.parametrize(("values", "expected"), [([5.0], 0.0), ([1, 1, 9], 0.0), ([1, 2, 3, 4, 100], 1.0)])
def test_the_deviation_ignores_one_outlier(values: list[float], expected: float) -> None:
    assert mad(values) == expected


def test_a_median_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="no values"):
        median([])


@given(values=TIMES, seed=st.integers())
def test_the_interval_holds_the_median_and_is_the_same_for_the_same_seed(values: list[float], seed: int) -> None:
    low, high = bootstrap_interval(values, seed, resamples=200)
    assert min(values) <= low <= median(values) <= high <= max(values)
    assert bootstrap_interval(values, seed, resamples=200) == (low, high)


@pytest.mark.parametrize("count", [3, 5, 7])
@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.95, 0.99])
def test_of_an_odd_number_the_interval_is_that_of_all_resamples_there_are(count: int, confidence: float) -> None:
    values = [1.0, 2.5, 3.0, 7.0, 7.5, 11.0, 12.0][:count]
    medians = sorted(sorted(drawn)[count // 2] for drawn in itertools.product(values, repeat=count))
    beyond = math.floor((1 - confidence) / 2 * len(medians))
    assert bootstrap_interval(values, 0, confidence) == (medians[beyond], medians[-1 - beyond])


def test_the_interval_covers_the_true_median_about_as_often_as_it_says() -> None:
    draw = random.Random(7)
    hits = 0
    for trial in range(300):
        sample = [draw.lognormvariate(0, 0.2) for _ in range(25)]
        low, high = bootstrap_interval(sample, trial, resamples=400)
        hits += low <= 1.0 <= high
    assert 0.90 <= hits / 300 <= 0.99


def test_more_samples_of_one_kind_narrow_the_interval() -> None:
    few = [10.0, 11.0, 12.0]
    many = few * 20
    assert relative_width(bootstrap_interval(many, 1), 11.0) < relative_width(bootstrap_interval(few, 1), 11.0)


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95.0])
def test_a_confidence_that_is_no_probability_is_refused(confidence: float) -> None:
    with pytest.raises(ValueError, match="confidence"):
        bootstrap_interval([1.0, 2.0], 1, confidence)


@pytest.mark.parametrize(
    ("samples", "expected"),
    [([10.0, 10.1, 9.9], True), ([10.0, 13.0, 7.0], False), ([10.0, 10.0], False), ([10.0] * 3, True)],
)
def test_measuring_stops_at_a_narrow_interval_of_three_samples_or_more(samples, expected) -> None:
    assert narrow_enough(samples, seed=1, width=0.05) is expected


def test_rounds_pool_in_the_order_taken() -> None:
    assert pooled([[3.0, 1.0], [], [2.0]]) == (3.0, 1.0, 2.0)


def test_a_measurement_keeps_every_sample() -> None:
    measurement = measurement_of([12.0, 10.0, 11.0], calls=16, seed=3)
    assert measurement.state is MeasurementState.MEASURED
    assert measurement.samples_us == (12.0, 10.0, 11.0)
    assert (measurement.median_us, measurement.mad_us, measurement.calls) == (11.0, 1.0, 16)
    assert measurement.interval_us == (10.0, 12.0)


@pytest.mark.parametrize("samples", [[], [1.0, 0.0], [1.0, -2.0], [math.nan], [math.inf, 1.0]])
def test_times_that_are_no_times_are_never_a_measurement(samples: list[float]) -> None:
    with pytest.raises(NotMeasured):
        measurement_of(samples, calls=4, seed=1)


@pytest.mark.parametrize("count", [1, 2, 3, 5, 7])
def test_the_likely_interval_of_few_samples_is_the_bootstraps(count: int) -> None:
    draw = random.Random(count)
    for seed in range(20):
        samples = [draw.lognormvariate(0, 0.3) for _ in range(count)]
        assert likely_interval(samples) == pytest.approx(bootstrap_interval(samples, seed))
