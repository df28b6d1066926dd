"""Axes: where a value lies in a picture, and which ticks to write."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class LogScale:
    """A logarithmic axis from `low` to `high` (both > 0) over `length` from `start`."""

    low: float
    high: float
    start: float
    length: float

    def position(self, value: float) -> float:
        """Where `value` lies; values beyond the axis sit at its ends."""
        span = math.log(self.high) - math.log(self.low)
        share = (math.log(max(value, self.low)) - math.log(self.low)) / span
        return self.start + self.length * min(share, 1.0)

    def ticks(self) -> tuple[float, ...]:
        """Round values on the axis: powers of ten, with 2 and 5 between where there is room."""
        decades = math.log10(self.high / self.low)
        steps = (1, 2, 5) if decades <= 3.5 else (1,)
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        values = (step * 10.0**power for power in range(first, last + 1) for step in steps)
        return tuple(value for value in values if self.low <= value <= self.high)


def log_scale(values: Iterable[float], start: float, length: float) -> LogScale:
    """An axis that holds all positive finite `values` with a little air on both sides."""
    usable = [value for value in values if math.isfinite(value) and value > 0]
    if not usable:
        return LogScale(1.0, 10.0, start, length)
    return LogScale(min(usable) / 1.25, max(usable) * 1.25, start, length)


HAP_STEPS = 10
"""The colour scale has one step per tenth, 0 to 10; above the limit comes a hatched tone."""


def hap_class(hap: float | None) -> str:
    """The style class for a HAP: `hap-0` … `hap-10`, `hap-over` above the limit, `hap-none` without a value."""
    if hap is None or not math.isfinite(hap):
        return "hap-none"
    if hap > 1.0:
        return "hap-over"
    return f"hap-{round(max(hap, 0.0) * HAP_STEPS)}"
