"""The effective bounds of one output: its dtype's, and what the operator declares instead (`judging.md` section 1)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kernel_eval.errors import InternalError
from kernel_eval.model import CARRIERS, DEFAULT_TOLERANCES, Operator, OutputSpec, Tolerance, carrier

DENOMINATOR_FLOOR = 1e-7
"""Added to |golden| before dividing, so that a golden of 0 has a relative error."""
DEFAULTS = DEFAULT_TOLERANCES

__all__ = ["DEFAULTS", "DENOMINATOR_FLOOR", "EXACT", "Bounds", "Tolerance", "bounds_for", "carrier", "tolerance_for"]


@dataclass(frozen=True)
class Bounds:
    """What holds for one output tensor: `tolerance` where it is a float, `integer_tolerance` where it is not."""

    tolerance: Tolerance | None = None
    integer_tolerance: int = 0
    relief: bool = False
    signed_zero: bool = False

    @property
    def threshold(self) -> float:
        """τ of floats, the largest difference of integers; 0 demands equality."""
        return float(self.integer_tolerance) if self.tolerance is None else self.tolerance.mean

    @property
    def relaxed(self) -> bool:
        """Whether this is wider than the dtype's default."""
        return self.integer_tolerance > 0 if self.tolerance is None else self.tolerance.relaxed


EXACT = Bounds()
"""Nothing but equality."""


def bounds_for(operator: Operator, spec: OutputSpec, declared: str) -> Bounds:
    """The bounds of a tensor that is declared as `declared`. Raises `InternalError` for a float without any."""
    if declared not in DEFAULTS and not declared.startswith("float"):
        by_dtype = int(operator.thresholds.get(declared, 0)) if operator.foreign is not None else 0
        return Bounds(integer_tolerance=0 if declared == "bool" else max(spec.integer_tolerance, by_dtype))
    computed_as = spec.computed_as if CARRIERS.get(spec.computed_as) == declared else declared
    tolerance = tolerance_for(operator, computed_as)
    return Bounds(tolerance, 0, operator.same_precision_relief, spec.signed_zero)


def tolerance_for(operator: Operator, dtype: str) -> Tolerance:
    """The effective tolerance of a float output; raises `InternalError` for a dtype without one."""
    if dtype not in DEFAULTS:
        raise InternalError(f"{operator.name}: no tolerance is defined for outputs of {dtype}")
    default = DEFAULTS[dtype]
    mean = operator.thresholds.get(dtype, default.mean)
    absolute = operator.absolute_errors.get(dtype, 0.0)
    return replace(
        default,
        mean=mean,
        small_error=max(absolute, default.small_error),
        cancelled_error=absolute,
        relaxed=mean > default.mean or absolute > default.small_error,
    )
