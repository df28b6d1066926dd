"""What comparing one tensor gave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class TensorOutcome:
    """Rule that decided, whether it passed, and the figures behind it.

    `worst` is the flat index of the element furthest off, None where there is none.
    `against` is what was wanted there, where that isn't the golden at the same index.
    """

    passed: bool
    rule: str
    message: str = ""
    mean: float | None = None
    largest: float | None = None
    worst: int | None = None
    regions: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    figures: Mapping[str, float] = field(default_factory=dict)
    against: float | None = None
