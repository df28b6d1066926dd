"""Times of one case, with every sample kept."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class MeasurementState(StrEnum):
    """Three states that are never mixed (`judging.md` section 3)."""

    MEASURED = "measured"
    NOT_MEASURED = "not_measured"
    """Our fault: retried, then `internal_error`."""
    NOT_EXECUTED = "not_executed"
    """The candidate ran no attributable kernel: correct, but s = 0."""


@dataclass(frozen=True)
class Measurement:
    """Time per call in µs: one sample per fresh process, pooled by the median.

    `interval_us` is the 95 % bootstrap interval of the median, `mad_us` the
    median absolute deviation, `calls` the pool's size n.
    """

    state: MeasurementState
    samples_us: tuple[float, ...] = ()
    median_us: float | None = None
    mad_us: float | None = None
    interval_us: tuple[float, float] | None = None
    calls: int = 0
    message: str = ""
