"""Floats whose operator allows no error, and zeros whose sign counts (`judging.md` section 1, rule 2)."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from kernel_eval.check.chunks import over_chunks
from kernel_eval.check.outcome import TensorOutcome


def compare_exactly(found: torch.Tensor, golden: torch.Tensor) -> TensorOutcome:
    """Floats equal in value; −0.0 equals 0.0, NaN equals NaN."""
    left, right = found.reshape(-1), golden.reshape(-1)

    def off(start: int, stop: int) -> torch.Tensor:
        """How far apart; infinite where one is NaN or both are different infinities."""
        one, other = left[start:stop].double(), right[start:stop].double()
        distance = (one - other).abs_().nan_to_num_(math.inf)
        return distance.masked_fill_((one == other) | (one.isnan() & other.isnan()), 0.0)

    return _outcome("exact", left.numel(), off, "elements differ")


def compare_zeros(found: torch.Tensor, golden: torch.Tensor) -> TensorOutcome:
    """Where both are zero, both have the same sign."""
    left, right = found.reshape(-1), golden.reshape(-1)

    def off(start: int, stop: int) -> torch.Tensor:
        one, other = left[start:stop].double(), right[start:stop].double()
        return ((one == 0) & (other == 0) & (one.signbit() != other.signbit())).double()

    return _outcome("signed_zero", left.numel(), off, "zeros have the wrong sign")


def _outcome(rule: str, count: int, off: Callable[[int, int], torch.Tensor], what: str) -> TensorOutcome:
    def piece(start: int, stop: int) -> tuple[int, float, int]:
        distance = off(start, stop)
        at = int(distance.argmax())
        return int(torch.count_nonzero(distance)), float(distance[at]), start + at

    pieces = over_chunks(count, piece)
    wrong = sum(number for number, _, _ in pieces)
    figures = {"elements": count, "differing": wrong}
    if not wrong:
        return TensorOutcome(True, rule, figures=figures)
    worst = max(pieces, key=lambda entry: entry[1])[2]
    return TensorOutcome(False, rule, f"{wrong} of {count} {what}", figures=figures, worst=worst)
