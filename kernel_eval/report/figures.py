"""How figures are written in reports: few digits, a dash where there is none."""

from __future__ import annotations

import math

from kernel_eval.model import NO_LIMIT, CaseResult

NONE = "–"


def points(value: float | None) -> str:
    """A score or a part of it, two decimals."""
    return NONE if value is None else f"{value:.2f}"


def ratio(value: float | None) -> str:
    """A ratio such as HAP or a speed-up, three significant digits."""
    return NONE if value is None else f"{value:#.3g}" if abs(value) < 1 else f"{value:.2f}"


def share(value: float) -> str:
    """A share of one as a percentage."""
    return f"{100 * value:.1f} %"


def microseconds(value: float | None) -> str:
    """A time in µs with four significant digits, never in exponent form."""
    if value is None or not math.isfinite(value):
        return NONE
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def seconds(value: float) -> str:
    """A duration for people."""
    return f"{value:.1f} s" if value < 60 else f"{int(value // 60)} min {value % 60:.0f} s"


def limit_us(case: CaseResult) -> float | None:
    """A case's limit; None where there is none."""
    return None if case.limit is None or case.limit == NO_LIMIT else case.limit.limit_us
