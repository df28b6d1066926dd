"""Which of an entry's runs stands on the board: no lottery.

Runs of identical sources are one attempt measured several times, so they pool
by their median. Another source takes over only when it is better by more than
what measuring can tell apart.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from kernel_eval.model import CaseResult, Measurement, OperatorResult
from kernel_eval.score.case import hap
from kernel_eval.score.operator import PAPER_WEIGHTS, Weights
from kernel_eval.timing.statistics import median


@dataclass(frozen=True)
class Attempt:
    """One published run of an operator: `source` is the digest of the operator's sources, `band` its noise band."""

    run: str
    source: str
    score: float
    band: float


@dataclass(frozen=True)
class Pool:
    """All runs of one source: the median of their scores and of their bands."""

    source: str
    score: float
    band: float
    runs: tuple[str, ...]


def noise_band(result: OperatorResult, case_count: int | None = None, weights: Weights = PAPER_WEIGHTS) -> float:
    """Half the width, in points, of the score's 95 % interval.

    Each case's own half width comes from the bootstrap intervals of its two
    times; the cases are measured independently, so they add in quadrature.
    """
    count = len(result.cases) if case_count is None else case_count
    widths = [half for case in result.cases if (half := _half_width(case)) is not None]
    return 100 * weights.performance * math.hypot(*widths) / count if count else 0.0


def best_pool(attempts: Sequence[Attempt]) -> Pool | None:
    """The pool that stands after `attempts`, given in the order they were published; None for none.

    The holder changes only when another source's pool exceeds it by more than
    both noise bands together; a further run of the holder's own source only
    refreshes its median.
    """
    members: dict[str, list[Attempt]] = {}
    pools: dict[str, Pool] = {}
    holder: str | None = None
    for attempt in attempts:
        source = attempt.source
        members.setdefault(source, []).append(attempt)
        pools[source] = _pool(source, members[source])
        if holder is None:
            holder = source
        rivals = pools.values() if source == holder else (pools[source],)
        best = max(rivals, key=lambda pool: pool.score)
        holder = best.source if exceeds(best, pools[holder]) else holder
    return pools[holder] if holder is not None else None


def exceeds(new: Pool, old: Pool) -> bool:
    """Whether `new` is better than `old` by more than the noise bands of both."""
    return new.score > old.score + new.band + old.band


def _pool(source: str, members: Sequence[Attempt]) -> Pool:
    runs = tuple(member.run for member in members)
    score = median([member.score for member in members])
    return Pool(source, score, median([member.band for member in members]), runs)


def _half_width(case: CaseResult) -> float | None:
    """Half the spread of the case's published score over the intervals of both times."""
    own, base = case.candidate, case.baseline
    if case.published_hap is None or case.limit is None or own is None or own.median_us is None:
        return None
    limit_us = case.limit.limit_us
    base_us = base.median_us if base is not None and base.median_us is not None else case.anchor_us
    if base_us is None:
        return None
    own_edges = [_clamped(base_us, limit_us, edge) for edge in _edges(own, own.median_us)]
    base_edges = [_clamped(edge, limit_us, own.median_us) for edge in _edges(base, base_us)]
    return math.hypot(_half(own_edges), _half(base_edges))


def _edges(measured: Measurement | None, middle: float) -> tuple[float, float]:
    return (measured.interval_us if measured is not None else None) or (middle, middle)


def _half(edges: Sequence[float]) -> float:
    return abs(edges[0] - edges[1]) / 2


def _clamped(base_us: float, limit_us: float, own_us: float) -> float:
    return min(hap(base_us, limit_us, own_us), 1.0)
