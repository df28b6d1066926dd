"""How far off a float output may be, per dtype (`judging.md` section 1; paper, appendix A). No torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

LARGEST_FACTOR = 10.0
"""The largest relative error may be this many times τ."""


@dataclass(frozen=True)
class Tolerance:
    """Bounds for one output dtype.

    `mean` is τ; `small` is τ_sv, below which a golden counts as small;
    `small_error` is ε_sv; `cancelled` is τ_cb = τ_cz. `largest` and `tiniest` are
    the dtype's largest finite number and smallest subnormal. `relief` is k of the
    deep-reduction rule. `cancelled_error` is an operator's own absolute error that
    counts as none in the cancellation region (0: there is none).
    """

    mean: float
    small: float
    small_error: float
    cancelled: float
    largest: float
    tiniest: float
    relief: float
    cancelled_error: float = 0.0
    relaxed: bool = False

    @property
    def peak(self) -> float:
        """The bound on the largest relative error, 10 τ."""
        return LARGEST_FACTOR * self.mean

    @property
    def guards_sign(self) -> bool:
        """Whether a zero or another sign must be looked for: where 10 τ is 1 or more, it does not rule them out."""
        return self.peak >= 1


DEFAULT_TOLERANCES: Mapping[str, Tolerance] = MappingProxyType(
    {
        "float16": Tolerance(2.0**-10, 2.0**-11, 2.0**-16, 2.0**-5, 65504.0, 2.0**-24, 1.0),
        "bfloat16": Tolerance(2.0**-7, 2.0**-8, 2.0**-16, 2.0**-3, 255 * 2.0**120, 2.0**-133, 1.0),
        "float32": Tolerance(2.0**-13, 2.0**-14, 2.0**-30, 2.0**-8, (2 - 2.0**-23) * 2.0**127, 2.0**-149, 16.0),
        "hifloat32": Tolerance(2.0**-11, 2.0**-12, 2.0**-28, 2.0**-8, (2 - 2.0**-23) * 2.0**127, 2.0**-149, 16.0),
        "float8_e4m3fn": Tolerance(2.0**-3, 2.0**-4, 2.0**-6, 2.0**-1, 448.0, 2.0**-9, 1.0),
        "float8_e5m2": Tolerance(2.0**-2, 2.0**-3, 2.0**-5, 2.0**0, 57344.0, 2.0**-16, 1.0),
    }
)


CARRIERS: Mapping[str, str] = MappingProxyType({"hifloat32": "float32"})
"""Compute formats that are declared but have no tensors of their own, and the dtype that carries them."""


def carrier(dtype: str) -> str:
    """The dtype of a tensor that is declared as `dtype`."""
    return CARRIERS.get(dtype, dtype)
