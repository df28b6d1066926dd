"""One round of a case: a few pairs of batches, prepared side by side and played one after the other.

All children are prepared first, and only when they stand stopped are the inputs
written: no process has seen a value before its clock runs. Then each batch is
played alone, and a candidate's process is dead before its outputs are read.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

from kernel_eval.errors import NotMeasured
from kernel_eval.model import Verdict
from kernel_eval.runner.play import Play, PlayStatus
from kernel_eval.runner.pool import Pool
from kernel_eval.timing.alone import alone
from kernel_eval.timing.bench import Bench, Subject, Timing
from kernel_eval.timing.lanes import Lane, Role, draw_roles, meet_ahead, prepare
from kernel_eval.timing.pace import Side
from kernel_eval.timing.plan import batch_limit_s, place_known

BASELINE_LIMIT_S = 120.0


def play_round(bench: Bench, subject: Subject, timing: Timing, pairs: int, shorts: int) -> None:
    """Play `pairs` batches of candidate and baseline and `shorts` of another length; the samples go into `timing`.

    Raises `NotMeasured` where the baseline fails.
    """
    roles = draw_roles(bench.randomness, pairs, shorts)
    with alone():
        started = time.monotonic()
        try:
            _play_all(bench, subject, timing, roles)
        finally:
            timing.seconds += time.monotonic() - started


def _play_all(bench: Bench, subject: Subject, timing: Timing, roles: Sequence[Role]) -> None:
    places = place_known(subject.plan, bench.randomness)
    with ThreadPoolExecutor(1, "beside") as beside, ExitStack() as stack:
        # Before any of the new processes can look: what the last batch left there may be answers to this case.
        bench.pool.lay_out(subject.candidate, subject.plan.count)
        stack.callback(_clear, bench.pool)
        meet_ahead(bench, roles)
        lanes = prepare(bench, subject, timing.calls, places, roles, stack)
        if not _all_ready(lanes, timing):
            return
        subject.fill(places, sorted({index for lane in lanes for index in lane.order}))
        bench.settle()
        computed_at = time.monotonic()
        for lane in lanes:
            time.sleep(max(computed_at + bench.pause_s - time.monotonic(), 0))
            _play(subject, timing, lane)
            if timing.failed:
                return
            if lane is lanes[-1]:
                _verify(subject, timing, lane, places)
            else:
                computed_at = _look_back(bench, subject, timing, lane, places, beside)
            if timing.failed:
                return


def _clear(pool: Pool) -> None:
    """Remove all values, decoys too: their numbers come again elsewhere, and a child prepared later must see none."""
    for column in pool.input_columns():
        column.zero_()


def _all_ready(lanes: Sequence[Lane], timing: Timing) -> bool:
    for lane in lanes:
        failure = lane.child.ready().failure
        if failure is None:
            continue
        if lane.role is Role.BASELINE:
            raise NotMeasured(f"the baseline could not be prepared: {failure.status} {failure.detail}")
        _fail(timing, failure)
        return False
    return True


def _fail(timing: Timing, play: Play) -> None:
    timing.verdict = play.status.verdict or Verdict.CRASHED
    timing.play = play


def _play(subject: Subject, timing: Timing, lane: Lane) -> None:
    from_candidate = lane.role.side is Side.CANDIDATE
    started = time.monotonic()
    play = lane.child.run(_limit_s(subject, timing, lane))
    timing.candidate_s += from_candidate * (time.monotonic() - started)
    if play.status is not PlayStatus.OK:
        if not from_candidate:
            raise NotMeasured(f"the baseline failed while timed: {play.status} {play.detail}")
        _fail(timing, play)
        return
    if from_candidate:
        timing.plays.append(play)
    _samples(timing, lane.role).append(_sample_us(play, subject, len(lane.order)))


def _look_back(
    bench: Bench, subject: Subject, timing: Timing, lane: Lane, places: Sequence[int], beside: ThreadPoolExecutor
) -> float:
    """Verify a candidate's known outputs, overwrite all others meanwhile, and clear the dead process away.

    Returns when the judge last computed: its threads may still spin for some time after that.
    """
    known = [index for index in places if index in lane.order] if lane.role.side is Side.CANDIDATE else []
    poisoned = beside.submit(bench.pool.poison, but=known)
    try:
        _verify(subject, timing, lane, places)
        computed_at = time.monotonic()
        lane.child.close()
    finally:
        poisoned.result()
    bench.pool.poison()
    return computed_at


def _samples(timing: Timing, role: Role) -> list[float]:
    return {
        Role.CANDIDATE: timing.candidate_us,
        Role.BASELINE: timing.baseline_us,
        Role.SHORT: timing.short_us,
    }[role]


def _limit_s(subject: Subject, timing: Timing, lane: Lane) -> float:
    """The candidate's limit follows the baseline as measured beside it; the baseline, our own code, has more."""
    if lane.role is Role.BASELINE:
        return BASELINE_LIMIT_S
    measured_us = max(timing.baseline_us, default=0.0)
    return batch_limit_s(max(subject.expected_us, measured_us), len(lane.order))


def _verify(subject: Subject, timing: Timing, lane: Lane, places: Sequence[int]) -> None:
    """Judge a candidate's known outputs; of a baseline, our own code, nothing is asked."""
    played = set(lane.order) if lane.role.side is Side.CANDIDATE else ()
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
