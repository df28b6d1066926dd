"""Times one accepted case on CPU: fresh processes in pairs, the judge's clock, every known output verified.

A round prepares all its children first, both boxes' side by side, and only when
they stand stopped are the inputs written: no process has seen a value before
its clock runs. Then each plays its one batch, alone, and is dead before its
outputs are read.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field

from kernel_eval.errors import NotMeasured
from kernel_eval.model import CallSpec, Comparison, Measurement, Verdict
from kernel_eval.runner.box import CaseChild, RunBox
from kernel_eval.runner.play import Play, PlayStatus
from kernel_eval.runner.pool import Pool
from kernel_eval.timing.alone import alone
from kernel_eval.timing.pace import Pace, Side
from kernel_eval.timing.plan import Plan, batch_limit_s, place_known, play_order
from kernel_eval.timing.statistics import likely_interval, measurement_of, median, relative_width

LEAST_PAIRS = 3
MOST_PAIRS = 7
BASELINE_LIMIT_S = 120.0
PATIENCE_S = 2.0
"""No further round of a case begins after this time: a host so busy won't give steadier figures."""
SETTLED = 0.30
"""Measuring stops when the case's score lies in an interval no wider than this; an operator's score averages a hundred
cases, so that this much at a case is little at the operator."""
WIDE = 0.45
"""A score still as wide as this after the usual pairs asks for more."""
CROSS_CHECKED = 1 / 5
"""The share of cases, drawn by chance, in which a batch of another length is played as well."""
STEADY = 0.50
"""Times are steady where their likely interval is at most this share of their median wide."""
NONLINEAR = 0.50
"""A short batch whose time per call is further off than this is looked at again; half of a batch that is nothing but
constant work would be off by 1."""


@dataclass(frozen=True)
class Bench:
    """What the timed cases of one evaluation share.

    `pause_s` is the rest before each batch, `cross_checked` the share of cases with a second batch length,
    `pace` what the cases before this one taught about the length of batches.
    """

    candidate: RunBox
    baseline: RunBox
    pool: Pool
    warmup: int
    repeat: int
    pause_s: float
    randomness: random.Random
    cross_checked: float = CROSS_CHECKED
    pace: Pace = field(default_factory=Pace)


@dataclass(frozen=True)
class Subject:
    """One case to be timed.

    `operator` is its name. `fill` writes the values of the buffers that are played: the known inputs, by trial, at
    the first given buffers, decoys freshly drawn at all others of the second. `verify` judges the outputs of a trial
    that lie in the given buffer. `overhead_us` gives h of a batch of that many calls; `expected_us` is a rough T_base
    for the time limit; `score` is the case's score (0 to 1) for a baseline and a candidate time; `seed` fixes
    the bootstrap.
    """

    operator: str
    candidate: CallSpec
    baseline: CallSpec
    plan: Plan
    fill: Callable[[Sequence[int], Sequence[int]], None]
    verify: Callable[[int, int], Comparison]
    overhead_us: Callable[[int], float]
    expected_us: float
    score: Callable[[float, float], float]
    seed: int


@dataclass
class Timing:
    """What came of timing a case; `verdict` is other than accepted where a timed process failed.

    `play` is the failed one, `comparison` that of a known output that was wrong.
    `short_us` are the cross-check's samples, `plays` all finished batches of the candidate, `candidate_s`
    the seconds that its processes ran, `seconds` what all rounds took, `calls` the length of a
    batch by side.
    """

    verdict: Verdict = Verdict.ACCEPTED
    candidate: Measurement | None = None
    baseline: Measurement | None = None
    play: Play | None = None
    comparison: Comparison | None = None
    nonlinear: bool = False
    unstable: bool = False
    candidate_us: list[float] = field(default_factory=list)
    baseline_us: list[float] = field(default_factory=list)
    short_us: list[float] = field(default_factory=list)
    plays: list[Play] = field(default_factory=list)
    candidate_s: float = 0.0
    seconds: float = 0.0
    calls: dict[Side, int] = field(default_factory=dict)

    @property
    def failed(self) -> bool:
        """Whether the candidate failed in a timed process."""
        return self.verdict is not Verdict.ACCEPTED

    @property
    def short_ratio(self) -> float:
        """Time per call of the short batches over that of the long ones; 1.0 where there is none of either."""
        if not self.short_us or not self.candidate_us:
            return 1.0
        return median(self.short_us) / median(self.candidate_us)


@dataclass(frozen=True)
class _Lane:
    """One child of a round: where its sample goes and which buffers it plays."""

    child: CaseChild
    is_candidate: bool
    order: tuple[int, ...]
    samples: list[float]


def measure(bench: Bench, subject: Subject) -> Timing:
    """Time the case. Raises `NotMeasured` where the fault is ours: no baseline, or no usable time."""
    timing = Timing(calls={side: _calls(bench, subject, side) for side in Side})
    shorts = int(bench.randomness.random() < bench.cross_checked)
    _round(bench, subject, timing, min(LEAST_PAIRS, bench.repeat), shorts)
    while timing.seconds < PATIENCE_S and (pairs := _more_pairs(bench, subject, timing)):
        _round(bench, subject, timing, pairs, shorts=0)
    if timing.seconds < PATIENCE_S and _suspicious(timing):
        _round(bench, subject, timing, pairs=2, shorts=3)
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


def _round(bench: Bench, subject: Subject, timing: Timing, pairs: int, shorts: int) -> None:
    with alone():
        started = time.monotonic()
        try:
            _play_round(bench, subject, timing, _kinds(bench.randomness, pairs, shorts))
        finally:
            timing.seconds += time.monotonic() - started
    _fork_ahead(bench, LEAST_PAIRS, LEAST_PAIRS)  # the next case's, while this one is concluded


def _fork_ahead(bench: Bench, candidates: int, baselines: int) -> None:
    bench.candidate.fork_ahead(candidates)
    bench.baseline.fork_ahead(baselines)


def _play_round(bench: Bench, subject: Subject, timing: Timing, kinds: Sequence[str]) -> None:
    places = place_known(subject.plan, bench.randomness)
    with ThreadPoolExecutor(1, "beside") as beside, ExitStack() as stack:
        forked = beside.submit(_meet_ahead, bench, kinds)
        bench.pool.lay_out(subject.candidate, subject.plan.count)
        stack.callback(_clear, bench.pool)
        forked.result()
        lanes = _prepare(bench, subject, timing, places, kinds, stack, beside)
        if not _all_ready(lanes, timing):
            return
        subject.fill(places, sorted({index for lane in lanes for index in lane.order}))
        previous: CaseChild | None = None
        for lane in lanes:
            bench.pool.poison()
            if previous is not None:
                previous.close()
            _play(bench, subject, timing, lane, places)
            if timing.failed:
                return
            previous = lane.child


def _clear(pool: Pool) -> None:
    """Remove all values, decoys too: their numbers come again elsewhere, and a child prepared later must see none."""
    for column in pool.input_columns():
        column.zero_()


def _kinds(randomness: random.Random, pairs: int, shorts: int) -> list[str]:
    """The order of a round: pairs interleaved, either first at random, the short batches among them."""
    kinds: list[str] = []
    for _ in range(pairs):
        kinds += randomness.sample(("candidate", "baseline"), 2)
    for _ in range(shorts):
        kinds.insert(randomness.randrange(len(kinds) + 1), "short")
    return kinds


def _meet_ahead(bench: Bench, kinds: Sequence[str]) -> None:
    baselines = kinds.count("baseline")
    _fork_ahead(bench, len(kinds) - baselines, baselines)
    bench.candidate.meet_ahead()
    bench.baseline.meet_ahead()


def _prepare(
    bench: Bench,
    subject: Subject,
    timing: Timing,
    places: Sequence[int],
    kinds: Sequence[str],
    stack: ExitStack,
    beside: Executor,
) -> list[_Lane]:
    """All children of a round, each box's one after another, the two boxes side by side; `stack` closes them."""

    def of_box(baseline: bool) -> dict[int, _Lane]:
        mine = [(at, kind) for at, kind in enumerate(kinds) if (kind == "baseline") is baseline]
        return {at: _lane(bench, subject, timing, orders[at], kind, stack) for at, kind in mine}

    orders = [_order(bench, subject, timing, places, kind) for kind in kinds]
    other = beside.submit(of_box, True)
    lanes = of_box(False)
    lanes |= other.result()
    return [lanes[at] for at in range(len(kinds))]


def _order(bench: Bench, subject: Subject, timing: Timing, places: Sequence[int], kind: str) -> tuple[int, ...]:
    length = timing.calls[Side.BASELINE if kind == "baseline" else Side.CANDIDATE]
    if kind == "short":
        length = max(length // 2, 1)
    return play_order(subject.plan, places, bench.randomness, length)


def _lane(bench: Bench, subject: Subject, timing: Timing, order: tuple[int, ...], kind: str, stack: ExitStack) -> _Lane:
    is_baseline = kind == "baseline"
    box, call = (bench.baseline, subject.baseline) if is_baseline else (bench.candidate, subject.candidate)
    samples = {"candidate": timing.candidate_us, "baseline": timing.baseline_us, "short": timing.short_us}[kind]
    child = box.spawn(call, bench.pool, order, bench.warmup)
    stack.callback(child.close)
    return _Lane(child, not is_baseline, order, samples)


def _all_ready(lanes: Sequence[_Lane], timing: Timing) -> bool:
    for lane in lanes:
        failure = lane.child.ready().failure
        if failure is None:
            continue
        if not lane.is_candidate:
            raise NotMeasured(f"the baseline could not be prepared: {failure.status} {failure.detail}")
        _fail(timing, failure)
        return False
    return True


def _fail(timing: Timing, play: Play) -> None:
    timing.verdict = play.status.verdict or Verdict.CRASHED
    timing.play = play


def _play(bench: Bench, subject: Subject, timing: Timing, lane: _Lane, places: Sequence[int]) -> None:
    time.sleep(bench.pause_s)
    started = time.monotonic()
    play = lane.child.run(_limit_s(subject, timing, lane))
    timing.candidate_s += lane.is_candidate * (time.monotonic() - started)
    if play.status is not PlayStatus.OK:
        if not lane.is_candidate:
            raise NotMeasured(f"the baseline failed while timed: {play.status} {play.detail}")
        _fail(timing, play)
        return
    if lane.is_candidate:
        timing.plays.append(play)
        _verify(subject, timing, lane, places)
    lane.samples.append(_sample_us(play, subject, len(lane.order)))


def _limit_s(subject: Subject, timing: Timing, lane: _Lane) -> float:
    """The candidate's limit follows the baseline as measured beside it; the baseline, our own code, has more."""
    if not lane.is_candidate:
        return BASELINE_LIMIT_S
    measured_us = max(timing.baseline_us, default=0.0)
    return batch_limit_s(max(subject.expected_us, measured_us), len(lane.order))


def _verify(subject: Subject, timing: Timing, lane: _Lane, places: Sequence[int]) -> None:
    played = set(lane.order)
    for trial, index in enumerate(places):
        if index in played:
            comparison = subject.verify(trial, index)
            if not comparison.accepted:
                timing.verdict, timing.comparison = comparison.verdict, comparison
                return


def _sample_us(play: Play, subject: Subject, calls: int) -> float:
    """(T(n) − h) / n. A batch that costs no more than an empty one counts its hundredth part: the least told apart."""
    if play.elapsed_ns is None:
        raise NotMeasured("the batch was done, but its end was not clocked")
    elapsed_us = play.elapsed_ns / 1e3
    return max(elapsed_us - subject.overhead_us(calls), elapsed_us / 100) / calls
