"""The first screen in float32: fast, and sure where it says yes (`judging.md` section 1, rules 3 and 4).

Differences and quotients of float32 numbers are off by a few parts in 2²⁴. The
bounds are narrowed by more than that, so a tensor that passes here passes in
FP64. Pieces with a one-sided infinity are measured exactly, by themselves. Whatever
is close to a bound, or differs in NaN is left to the exact comparison.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from kernel_eval.check.chunks import Floats, Scratch, over_chunks
from kernel_eval.check.measure import measure, sign_lost
from kernel_eval.check.outcome import TensorOutcome
from kernel_eval.check.tolerances import DENOMINATOR_FLOOR, Tolerance

PIECE = 1 << 17
"""Elements per piece: few enough for two float32 arrays to stay in the cache."""
_MARGIN = 1 - 2.0**-14


@dataclass(frozen=True)
class _Piece:
    """Figures of a piece; infinite where the exact comparison must decide. `at`: a flat index, where it is known."""

    total: float
    largest: float
    counted: int
    at: int | None = None


_UNDECIDED = _Piece(math.inf, math.inf, 0)


def first_screen(found: torch.Tensor, golden: torch.Tensor, tolerance: Tolerance) -> TensorOutcome | None:
    """A passing outcome, or None where only the exact comparison can tell. Both tensors are flat."""
    screen = _Screen(found, golden, tolerance)
    pieces = over_chunks(found.numel(), screen.piece, PIECE)
    largest = max((piece.largest for piece in pieces), default=0.0)
    counted = sum(piece.counted for piece in pieces)
    total = (
        math.fsum(piece.total for piece in pieces) if all(math.isfinite(piece.total) for piece in pieces) else math.inf
    )
    mean = total / counted if counted else 0.0
    if not (mean < tolerance.mean * _MARGIN and largest < tolerance.peak * _MARGIN):
        return None
    at = max(range(len(pieces)), key=lambda index: pieces[index].largest, default=None)
    worst = None if at is None or largest == 0 else screen.worst(at, pieces[at])
    return TensorOutcome(True, "first_screen", mean=mean, largest=largest, worst=worst)


class _Screen:
    """Relative errors of two flat tensors, piece by piece."""

    def __init__(self, found: torch.Tensor, golden: torch.Tensor, tolerance: Tolerance) -> None:
        self._tensors, self._tolerance = (found, golden), tolerance
        self._found, self._golden, self._scratch = Floats(found), Floats(golden), Scratch()

    def piece(self, start: int, stop: int) -> _Piece:
        """Figures of the elements from `start` to `stop`."""
        with np.errstate(all="ignore"):
            errors = self._errors(start, stop)
            largest, counted = float(errors.max()), errors.size
            if self._tolerance.guards_sign and sign_lost(*self._pair(start, stop)).any():
                return _UNDECIDED
            if not math.isfinite(largest):
                counted -= self._forgive_special(errors, start, stop)
                largest = float(errors.max())
            return _Piece(float(errors.sum()), largest, counted) if math.isfinite(largest) else self._exact(start, stop)

    def _exact(self, start: int, stop: int) -> _Piece:
        """Figures in FP64 of a piece with NaN or infinities on one side."""
        found, golden = (tensor[start:stop] for tensor in self._tensors)
        measured = measure(found, golden, self._tolerance)
        if measured.nan_mismatch_at is not None or measured.opposite_infinity_at is not None or measured.failing:
            return _UNDECIDED
        at = None if measured.largest_at is None else start + measured.largest_at
        return _Piece(measured.error_sum, measured.largest, measured.counted, at)

    def worst(self, index: int, piece: _Piece) -> int:
        """The flat index of the largest error of the piece of that number."""
        if piece.at is not None:
            return piece.at
        start, stop = index * PIECE, min((index + 1) * PIECE, self._tensors[0].numel())
        with np.errstate(all="ignore"):
            return start + int(np.nan_to_num(self._errors(start, stop), nan=0.0, posinf=0.0, neginf=0.0).argmax())

    def _pair(self, start: int, stop: int) -> tuple[NDArray[Any], NDArray[Any]]:
        left = self._scratch.array("found", stop - start, np.float32)
        right = self._scratch.array("golden", stop - start, np.float32)
        return self._found.read(start, stop, left), self._golden.read(start, stop, right)

    def _errors(self, start: int, stop: int) -> NDArray[Any]:
        """Relative errors in float32; NaN or infinite where one of the two is not finite."""
        left, right = self._pair(start, stop)
        errors = self._scratch.array("errors", stop - start, np.float32)
        below = self._scratch.array("below", stop - start, np.float32)
        np.abs(np.subtract(left, right, out=errors), out=errors)
        np.add(np.abs(right, out=below), np.float32(DENOMINATOR_FLOOR), out=below)
        np.divide(errors, below, out=errors)
        return errors

    def _forgive_special(self, errors: NDArray[Any], start: int, stop: int) -> int:
        """Set the error to 0 where both are NaN or the same infinity; how many elements leave the statistics."""
        left, right = self._pair(start, stop)
        agree = (left == right) | (np.isnan(left) & np.isnan(right))
        agree &= ~np.isfinite(right)
        errors[agree] = 0.0
        return int(np.count_nonzero(agree))
