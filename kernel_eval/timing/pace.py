"""How many calls of a pool fill one batch, learned from the cases timed before.

A pool is as large as the caches demand; how much of it a process plays need only
be long enough for the clock. Bytes alone say little of that: a slow baseline would
spend most of an evaluation's time on the same answer.
"""

from __future__ import annotations

import math
from collections import defaultdict
from enum import StrEnum

from kernel_eval.timing.plan import Plan
from kernel_eval.timing.statistics import median

FULL_BATCH_US = 6_000.0
"""A batch is meant to take this long, well above the least of 5 ms, for the estimate may be off."""


class Side(StrEnum):
    """Whose calls they are."""

    CANDIDATE = "candidate"
    BASELINE = "baseline"


class Pace:
    """Measured time over the time expected from the bytes alone, per operator and side."""

    def __init__(self) -> None:
        self._ratios: dict[tuple[str, Side], list[float]] = defaultdict(list)

    def learn(self, operator: str, side: Side, measured_us: float, expected_us: float) -> None:
        """Take in a case's median time per call."""
        self._ratios[operator, side].append(measured_us / expected_us)

    def calls(self, operator: str, side: Side, expected_us: float, plan: Plan) -> int:
        """Calls of one batch: as many as fill 6 ms, within the pool, and twice the known inputs at least."""
        ratios = self._ratios.get((operator, side))
        call_us = expected_us * (median(ratios) if ratios else 1.0)
        return min(plan.count, max(2 * plan.known, math.ceil(FULL_BATCH_US / call_us)))
