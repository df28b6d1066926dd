"""The first screen in float32: fast, and sure where it says yes (`judging.md` section 1, rules 3 and 4).

Differences and quotients of float32 numbers are off by a few parts in 2²⁴. The
bounds are narrowed by more than that, so a tensor that passes here passes in
FP64. Whatever is close to a bound, or holds a one-sided infinity, or differs
in NaN is left to the exact comparison.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from kernel_eval.check.chunks import CHUNK, over_chunks
from kernel_eval.check.outcome import TensorOutcome
from kernel_eval.check.tolerances import DENOMINATOR_FLOOR, Tolerance

_MARGIN = 1 - 2.0**-14


@dataclass(frozen=True)
class _Piece:
    total: float
    largest: float
    counted: int


def first_screen(found: torch.Tensor, golden: torch.Tensor, tolerance: Tolerance) -> TensorOutcome | None:
    """A passing outcome, or None where only the exact comparison can tell. Both tensors are flat."""
    pieces = over_chunks(found.numel(), lambda start, stop: _piece(found[start:stop], golden[start:stop]))
    largest = max((piece.largest for piece in pieces), default=0.0)
    counted = sum(piece.counted for piece in pieces)
    total = (
        math.fsum(piece.total for piece in pieces) if all(math.isfinite(piece.total) for piece in pieces) else math.inf
    )
    mean = total / counted if counted else 0.0
    if not (mean < tolerance.mean * _MARGIN and largest < tolerance.peak * _MARGIN):
        return None
    at = max(range(len(pieces)), key=lambda index: pieces[index].largest, default=None)
    worst = None if at is None or largest == 0 else _worst(found, golden, at * CHUNK)
    return TensorOutcome(True, "first_screen", mean=mean, largest=largest, worst=worst)


def _piece(found: torch.Tensor, golden: torch.Tensor) -> _Piece:
    errors = _errors(found, golden)
    largest = float(errors.amax())
    counted = errors.numel()
    if not math.isfinite(largest):
        counted -= _forgive_special(errors, found.to(torch.float32), golden.to(torch.float32))
        largest = float(errors.amax())
    return _Piece(float(errors.sum()), largest if math.isfinite(largest) else math.inf, counted)


def _errors(found: torch.Tensor, golden: torch.Tensor) -> torch.Tensor:
    """Relative errors in float32; NaN or infinite where one of the two is not finite."""
    right = golden.to(torch.float32)
    errors = torch.sub(found.to(torch.float32), right).abs_()
    return errors.div_(right.abs().add_(DENOMINATOR_FLOOR))


def _forgive_special(errors: torch.Tensor, found: torch.Tensor, golden: torch.Tensor) -> int:
    """Set the error to 0 where both are NaN or the same infinity; returns how many elements leave the statistics."""
    agree = (found == golden) | (found.isnan() & golden.isnan())
    agree &= ~golden.isfinite()
    errors.masked_fill_(agree, 0.0)
    return int(agree.sum())


def _worst(found: torch.Tensor, golden: torch.Tensor, start: int) -> int:
    errors = _errors(found[start : start + CHUNK], golden[start : start + CHUNK])
    return start + int(errors.nan_to_num_(0.0, 0.0, 0.0).argmax())
