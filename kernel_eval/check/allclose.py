"""The comparison of module suites: |output − golden| ≤ a + a · |golden|, with one bound a per dtype."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import torch

from kernel_eval.check.chunks import over_chunks
from kernel_eval.check.outcome import TensorOutcome

BOUNDS: Mapping[str, float] = MappingProxyType({"float32": 1e-4, "float64": 1e-4, "float16": 1e-2, "bfloat16": 1e-2})
OTHERWISE = 1e-2


def allclose_bound(dtype: str) -> float:
    """The absolute and the relative bound of a float dtype."""
    return BOUNDS.get(dtype, OTHERWISE)


def compare_allclose(found: torch.Tensor, golden: torch.Tensor, bound: float) -> TensorOutcome:
    """Judge one float tensor; NaN and infinities must be where the golden has them, and of its sign."""
    left, right = found.reshape(-1), golden.reshape(-1)

    def piece(start: int, stop: int) -> tuple[int, int | None, float, int]:
        one, other = left[start:stop].double(), right[start:stop].double()
        same = (one == other) | (one.isnan() & other.isnan())
        error = (one - other).abs_()
        wrong = ~same & ~((error <= bound + bound * other.abs()) & other.isfinite() & one.isfinite())
        count = int(wrong.sum())
        first = start + int(wrong.to(torch.uint8).argmax()) if count else None
        relative = torch.where(same, 0.0, error / (other.abs() + 1e-7)).nan_to_num_(nan=float("inf"))
        at = int(relative.argmax()) if relative.numel() else 0
        return count, first, float(relative[at]) if relative.numel() else 0.0, start + at

    pieces = over_chunks(left.numel(), piece)
    wrong = sum(count for count, *_ in pieces)
    first = next((index for _, index, *_ in pieces if index is not None), None)
    largest, at = max(((value, place) for *_, value, place in pieces), default=(0.0, 0))
    if first is not None:
        message = f"{wrong} of {left.numel()} elements differ by more than {bound:g} + {bound:g}·|golden|"
        return TensorOutcome(False, "allclose", message, largest=largest, worst=first)
    return TensorOutcome(True, "allclose", largest=largest, worst=at if left.numel() else None)
