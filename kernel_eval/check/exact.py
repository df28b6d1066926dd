"""Exact comparison: integers, bool, and floats whose operator allows no error (`judging.md` section 1, rule 2)."""

from __future__ import annotations

from collections.abc import Callable

import torch

from kernel_eval.check.chunks import over_chunks
from kernel_eval.check.outcome import TensorOutcome

_SIGNED = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def compare_integers(found: torch.Tensor, golden: torch.Tensor) -> TensorOutcome:
    """Equal bit by bit: nothing can overflow, and a bool byte that is neither 0 nor 1 equals nothing."""
    signed = _SIGNED[found.element_size()]
    left, right = found.reshape(-1).view(signed), golden.reshape(-1).view(signed)
    rule = "boolean" if found.dtype == torch.bool else "integers"
    return _outcome(rule, left.numel(), lambda start, stop: left[start:stop] != right[start:stop])


def compare_exactly(found: torch.Tensor, golden: torch.Tensor) -> TensorOutcome:
    """Floats equal in value; −0.0 equals 0.0, NaN equals NaN."""
    left, right = found.reshape(-1), golden.reshape(-1)

    def differs(start: int, stop: int) -> torch.Tensor:
        one, other = left[start:stop].double(), right[start:stop].double()
        return (one != other) & ~(one.isnan() & other.isnan())

    return _outcome("exact", left.numel(), differs)


def _outcome(rule: str, count: int, differs: Callable[[int, int], torch.Tensor]) -> TensorOutcome:
    def piece(start: int, stop: int) -> tuple[int, int | None]:
        mask = differs(start, stop)
        wrong = int(mask.sum())
        return wrong, start + int(mask.to(torch.uint8).argmax()) if wrong else None

    pieces = over_chunks(count, piece)
    wrong = sum(number for number, _ in pieces)
    first = next((index for _, index in pieces if index is not None), None)
    if first is None:
        return TensorOutcome(True, rule)
    return TensorOutcome(False, rule, f"{wrong} of {count} elements differ, the first at {first}", worst=first)
