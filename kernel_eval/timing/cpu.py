"""Times one accepted case on CPU: as many rounds of process pairs as its score needs, and no more."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from kernel_eval.timing.bench import Bench, Subject, Timing
from kernel_eval.timing.pace import Pace, Side
from kernel_eval.timing.round import play_round
from kernel_eval.timing.statistics import likely_interval, measurement_of, median, relative_width

LEAST_PAIRS = 3
MOST_PAIRS = 7
PATIENCE_S = 2.0
"""No further round of a case begins after this time: a host so busy won't give steadier figures."""
SETTLED = 0.40
"""Measuring stops when the case's score lies in an interval no wider than this: with a hundred such cases, an
operator's score lies within ±1 point in 95 of 100 runs, for a case's times make up half of its points."""
WIDE = 0.60
"""A score still as wide as this after the usual pairs asks for more."""
STEADY = 0.50
"""Times are steady where their likely interval is at most this share of their median wide."""
NONLINEAR = 0.50
"""A short batch whose time per call is further off than this is looked at again; half of a batch that is nothing but
constant work would be off by 1."""


def measure(bench: Bench, subject: Subject) -> Timing:
    """Time the case. Raises `NotMeasured` where the fault is ours: no baseline, or no usable time."""
    timing = Timing(calls={side: _calls(bench, subject, side) for side in Side})
    shorts = int(bench.randomness.random() < bench.cross_checked)
    play_round(bench, subject, timing, min(LEAST_PAIRS, bench.repeat), shorts)
    while timing.seconds < PATIENCE_S and (pairs := _more_pairs(bench, subject, timing)):
        play_round(bench, subject, timing, pairs, shorts=0)
    if timing.seconds < PATIENCE_S and _suspicious(timing):
        play_round(bench, subject, timing, pairs=2, shorts=3)
    if not timing.failed:
        _conclude(subject, timing)
        _learn(bench.pace, subject, timing)
    return timing


def _calls(bench: Bench, subject: Subject, side: Side) -> int:
    return bench.pace.calls(subject.operator, side, subject.expected_us, subject.plan)


def _learn(pace: Pace, subject: Subject, timing: Timing) -> None:
    for side, samples in ((Side.CANDIDATE, timing.candidate_us), (Side.BASELINE, timing.baseline_us)):
        pace.learn(subject.operator, side, median(samples), subject.expected_us)


def _conclude(subject: Subject, timing: Timing) -> None:
    """Pool the samples. Where they lie far apart, a difference of batch lengths proves nothing."""
    timing.candidate = measurement_of(timing.candidate_us, timing.calls[Side.CANDIDATE], subject.seed)
    timing.baseline = measurement_of(timing.baseline_us, timing.calls[Side.BASELINE], subject.seed)
    width = score_width(subject.score, timing.candidate_us, timing.baseline_us)
    timing.unstable = len(timing.candidate_us) >= LEAST_PAIRS and width > SETTLED
    timing.nonlinear = len(timing.short_us) > 1 and steady(timing) and _apart(timing)


def _suspicious(timing: Timing) -> bool:
    return not timing.failed and bool(timing.short_us) and _apart(timing)


def _more_pairs(bench: Bench, subject: Subject, timing: Timing) -> int:
    done = len(timing.candidate_us)
    if timing.failed or done < LEAST_PAIRS or done >= max(bench.repeat, MOST_PAIRS):
        return 0
    width = score_width(subject.score, timing.candidate_us, timing.baseline_us)
    if done < bench.repeat:
        return bench.repeat - done if width > SETTLED else 0
    return max(MOST_PAIRS - done, 0) if width > WIDE else 0


def score_width(
    score: Callable[[float, float], float], candidate_us: Sequence[float], baseline_us: Sequence[float]
) -> float:
    """How wide an interval a case's score lies in (0 to 1): what either side's likely interval makes of it with the
    other at its median, added as errors that don't depend on each other are."""
    fast, slow = likely_interval(candidate_us)
    low, high = likely_interval(baseline_us)
    candidate, baseline = median(candidate_us), median(baseline_us)
    return math.hypot(score(baseline, fast) - score(baseline, slow), score(high, candidate) - score(low, candidate))


def steady(timing: Timing) -> bool:
    """Whether both sides' times lie close enough together for a difference of batch lengths to mean something."""
    return all(
        len(samples) >= LEAST_PAIRS and relative_width(likely_interval(samples), median(samples)) <= STEADY
        for samples in (timing.candidate_us, timing.baseline_us)
    )


def _apart(timing: Timing) -> bool:
    """Whether all short batches lie beyond all long ones by more than the bound: noise alone hardly does that."""
    low, high = min(timing.candidate_us), max(timing.candidate_us)
    return min(timing.short_us) > high * (1 + NONLINEAR) or max(timing.short_us) < low / (1 + NONLINEAR)
