"""Statistics of a case's times. Pure: no clock, no global randomness.

A sample is the time per call in µs of one fresh process. Samples are few
(three to seven) and skewed by neighbours on the machine, hence medians, the
median absolute deviation, and a bootstrap interval instead of a mean with a
normal error.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence
from fractions import Fraction

from kernel_eval.errors import NotMeasured
from kernel_eval.model import Measurement, MeasurementState

RESAMPLES = 1000
CONFIDENCE = 0.95
MINIMUM_SAMPLES = 3
"""Fewer samples than this never count as narrow enough."""


def check_times(samples_us: Sequence[float]) -> None:
    """Raise `NotMeasured` unless there is at least one sample and all are finite and above zero."""
    if not samples_us:
        raise NotMeasured("no time samples: the case was not measured")
    for sample in samples_us:
        if not math.isfinite(sample) or sample <= 0:
            raise NotMeasured(f"{sample} µs is no time: samples must be finite and above zero")


def median(values: Sequence[float]) -> float:
    """The middle value, or the mean of the two middle ones; `ValueError` for none."""
    if not values:
        raise ValueError("no median of no values")
    return _middle(sorted(values))


def _middle(ordered: list[float]) -> float:
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return ordered[middle - 1] + (ordered[middle] - ordered[middle - 1]) / 2


def mad(values: Sequence[float]) -> float:
    """Median absolute deviation from the median, unscaled, in the unit of `values`."""
    centre = median(values)
    return median([abs(value - centre) for value in values])


def bootstrap_interval(
    samples: Sequence[float], seed: int, confidence: float = CONFIDENCE, resamples: int = RESAMPLES
) -> tuple[float, float]:
    """The percentile bootstrap interval of the median of `samples`.

    Of an odd number of samples it is computed exactly, of an even one from `resamples` draws. The same samples and
    seed always give the same interval, so that a stored report can be recomputed to the last digit.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence {confidence} must lie between 0 and 1")
    if len(set(samples)) == 1:
        return samples[0], samples[0]
    if len(samples) % 2:
        return _exact_interval(sorted(samples), (1 - confidence) / 2)
    draw = random.Random(seed)
    medians = sorted(_middle(sorted(draw.choices(samples, k=len(samples)))) for _ in range(resamples))
    outside = (1 - confidence) / 2
    low = math.floor(outside * resamples)
    return medians[low], medians[resamples - 1 - low]


def _exact_interval(ordered: list[float], outside: float) -> tuple[float, float]:
    """The interval that leaves at most the share `outside` of all resamples' medians beyond either end.

    A resample's median is at most the k-th of n values where more than half of its n draws are among the first k:
    P(Binomial(n, k / n) > n / 2).
    """
    count = len(ordered)

    def share(k: int) -> float:
        ways = sum(
            math.comb(count, drawn) * k**drawn * (count - k) ** (count - drawn)
            for drawn in range(count // 2 + 1, count + 1)
        )
        return float(Fraction(ways, count**count))

    low = next(k for k in range(count) if share(k + 1) > outside)
    return ordered[low], ordered[-1 - low]


def likely_interval(samples: Sequence[float]) -> tuple[float, float]:
    """The 95 % bootstrap interval of the median of a few samples, without resampling.

    Of up to six samples it is their range; of seven to ten the extremes fall outside, for a resample
    has one of them as its median in less than 2.5 % of all cases.
    """
    ordered = sorted(samples)
    cut = 0 if len(ordered) <= 6 else 1
    return ordered[cut], ordered[-1 - cut]


def relative_width(interval: tuple[float, float], centre: float) -> float:
    """Width of `interval` as a share of `centre` (0.1 is ±5 %)."""
    return (interval[1] - interval[0]) / centre


def narrow_enough(samples: Sequence[float], seed: int, width: float, minimum: int = MINIMUM_SAMPLES) -> bool:
    """Whether measuring may stop: at least `minimum` samples and an interval no wider than `width` of the median."""
    if len(samples) < minimum:
        return False
    return relative_width(bootstrap_interval(samples, seed), median(samples)) <= width


def pooled(rounds: Iterable[Sequence[float]]) -> tuple[float, ...]:
    """All samples of several rounds of one case as one, in the order taken."""
    return tuple(sample for samples in rounds for sample in samples)


def measurement_of(samples_us: Sequence[float], calls: int, seed: int) -> Measurement:
    """The measured state of a case from its samples; `calls` is the pool's size n.

    Raises `NotMeasured` where a sample is not finite or not above zero.
    """
    check_times(samples_us)
    return Measurement(
        state=MeasurementState.MEASURED,
        samples_us=tuple(samples_us),
        median_us=median(samples_us),
        mad_us=mad(samples_us),
        interval_us=bootstrap_interval(samples_us, seed),
        calls=calls,
    )
