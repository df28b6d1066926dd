"""The exact comparison of one tensor in FP64: special values, relative errors, sums per region, in one pass."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from kernel_eval.check.chunks import Floats, Scratch, over_chunks
from kernel_eval.check.tolerances import DENOMINATOR_FLOOR, Tolerance

PIECE = 1 << 17
"""Elements per piece: few enough for four FP64 arrays to stay in the cache."""
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Region:
    """Figures of the small or of the cancellation region.

    A difference of ε_sv, or of the operator's own absolute error, is never failing. The sums run over positions whose
    golden is not zero; `largest_found` is the largest magnitude found.
    """

    count: int = 0
    failing: int = 0
    largest_found: float = 0.0
    non_zero: int = 0
    difference_sum: float = 0.0
    golden_sum: float = 0.0


@dataclass(frozen=True)
class Measured:
    """Figures of one tensor, or of a piece of it.

    Counts are of elements; `failing` and `failing_*` as `failing_of` says.
    `*_at` are flat indices.
    """

    counted: int = 0
    error_sum: float = 0.0
    largest: float = 0.0
    largest_at: int | None = None
    failing: int = 0
    nan_mismatch_at: int | None = None
    opposite_infinity_at: int | None = None
    normal: int = 0
    normal_error_sum: float = 0.0
    failing_normal: int = 0
    failing_normal_difference: float = 0.0
    failing_normal_at: int | None = None
    cancelled: Region = Region()
    small: Region = Region()

    @property
    def mean(self) -> float:
        """Mean relative error over all elements that count."""
        return self.error_sum / self.counted if self.counted else 0.0

    @property
    def normal_mean(self) -> float:
        """Mean relative error over the normal region; 0 where it is empty."""
        return self.normal_error_sum / self.normal if self.normal else 0.0


def failing_of(error: Array, found: Array, golden: Array, tolerance: Tolerance) -> NDArray[np.bool_]:
    """Which elements are failing: a relative error of 10 τ or more, or a sign that is lost where that allows it."""
    failing = error >= tolerance.peak
    if tolerance.guards_sign:
        failing |= sign_lost(found, golden)
    return failing


def sign_lost(found: NDArray[Any], golden: NDArray[Any]) -> NDArray[np.bool_]:
    """Where the golden is not zero and the output is zero or of the other sign."""
    lost: NDArray[np.bool_] = (golden != 0) & ~(found * golden > 0)
    return lost


def measure(found: torch.Tensor, golden: torch.Tensor, tolerance: Tolerance) -> Measured:
    """Compare two flat tensors of one shape."""
    left, right, scratch = Floats(found), Floats(golden), Scratch()

    def piece(start: int, stop: int) -> Measured:
        arrays = [scratch.array(name, stop - start, np.float64) for name in ("found", "golden", "difference", "error")]
        with np.errstate(all="ignore"):
            one, other = left.read(start, stop, arrays[0]), right.read(start, stop, arrays[1])
            return _measure_piece(one, other, arrays[2], arrays[3], tolerance, start)

    return _joined(over_chunks(found.numel(), piece, PIECE))


def _measure_piece(
    found: Array, golden: Array, difference: Array, error: Array, tolerance: Tolerance, start: int
) -> Measured:
    """Figures of a piece whose first element has the flat index `start`; the last two arrays are written."""
    np.abs(np.subtract(found, golden, out=difference), out=difference)
    np.add(np.abs(golden, out=error), DENOMINATOR_FLOOR, out=error)
    np.divide(difference, error, out=error)
    if math.isfinite(error.max()):
        return _measure_finite(found, golden, difference, error, tolerance, start)
    return _measure_special(found, golden, tolerance, start)


def _measure_special(found: Array, golden: Array, tolerance: Tolerance, start: int) -> Measured:
    """Figures of a piece with NaN or infinities: what agrees is left out, a one-sided infinity becomes finite."""
    found_nan, golden_nan = np.isnan(found), np.isnan(golden)
    both_infinite = np.isinf(found) & np.isinf(golden)
    counts = ~(golden_nan | found_nan | (both_infinite & (found == golden)))
    ends = tolerance.largest
    left, right = np.clip(found[counts], -ends, ends), np.clip(golden[counts], -ends, ends)
    measured = Measured()
    if left.size:
        difference = np.abs(left - right)
        error = difference / (np.abs(right) + DENOMINATOR_FLOOR)
        measured = _measure_finite(left, right, difference, error, tolerance, 0)
    places = np.flatnonzero(counts)
    return replace(
        measured,
        nan_mismatch_at=_first(found_nan != golden_nan, start),
        opposite_infinity_at=_first(both_infinite & (found != golden), start),
        largest_at=None if measured.largest_at is None else start + int(places[measured.largest_at]),
        failing_normal_at=None
        if measured.failing_normal_at is None
        else start + int(places[measured.failing_normal_at]),
    )


def _measure_finite(
    found: Array, golden: Array, difference: Array, error: Array, tolerance: Tolerance, start: int
) -> Measured:
    """Figures of elements that all count. Errors outside the normal region are set to 0 on the way."""
    at = int(error.argmax())
    total, largest = float(error.sum()), float(error[at])
    failing = failing_of(error, found, golden, tolerance)
    near = _near(found, golden, difference, failing, tolerance)
    failed = _count(failing)
    outside = near.places[near.small | near.cancelled]
    error[outside], failing[outside] = 0.0, False
    normal = np.flatnonzero(failing) if failed else outside[:0]
    return Measured(
        counted=error.size,
        error_sum=total,
        largest=largest,
        largest_at=start + at,
        failing=failed,
        normal=error.size - outside.size,
        normal_error_sum=float(error.sum()) if outside.size else total,
        failing_normal=normal.size,
        failing_normal_difference=float(difference[normal].max()) if normal.size else 0.0,
        failing_normal_at=start + int(normal[0]) if normal.size else None,
        cancelled=_region(near, near.cancelled, tolerance.cancelled_error),
        small=_region(near, near.small, tolerance.small_error),
    )


@dataclass(frozen=True)
class _Near:
    """The elements whose golden is below τ_cb, the only ones that can lie outside the normal region."""

    places: NDArray[np.intp]
    found: Array
    magnitude: Array
    difference: Array
    failing: NDArray[np.bool_]
    small: NDArray[np.bool_]
    cancelled: NDArray[np.bool_]


def _near(found: Array, golden: Array, difference: Array, failing: NDArray[np.bool_], tolerance: Tolerance) -> _Near:
    bound = max(tolerance.cancelled, tolerance.small)
    places = np.flatnonzero((golden < bound) & (golden > -bound))
    magnitude, size = np.abs(golden[places]), np.abs(found[places])
    small = magnitude < tolerance.small
    cancelled = (size < tolerance.cancelled) & (magnitude < tolerance.cancelled) & ~small
    return _Near(places, size, magnitude, difference[places], failing[places], small, cancelled)


def _region(near: _Near, inside: NDArray[np.bool_], free: float) -> Region:
    """Figures of the elements `inside`, of which a difference of `free` at most is never failing."""
    if not inside.any():
        return Region()
    magnitude, difference = near.magnitude[inside], near.difference[inside]
    non_zero = magnitude > 0
    return Region(
        count=magnitude.size,
        failing=_count(near.failing[inside] & (difference > free)),
        largest_found=float(near.found[inside].max()),
        non_zero=_count(non_zero),
        difference_sum=float(difference[non_zero].sum()),
        golden_sum=float(magnitude.sum()),
    )


def _joined(pieces: Sequence[Measured]) -> Measured:
    """One record for all pieces; sums are exact, so neither order nor number of threads matters."""
    if not pieces:
        return Measured()
    peak = max(pieces, key=lambda piece: piece.largest)
    return Measured(
        counted=sum(piece.counted for piece in pieces),
        error_sum=math.fsum(piece.error_sum for piece in pieces),
        largest=peak.largest,
        largest_at=peak.largest_at,
        failing=sum(piece.failing for piece in pieces),
        nan_mismatch_at=_earliest(piece.nan_mismatch_at for piece in pieces),
        opposite_infinity_at=_earliest(piece.opposite_infinity_at for piece in pieces),
        normal=sum(piece.normal for piece in pieces),
        normal_error_sum=math.fsum(piece.normal_error_sum for piece in pieces),
        failing_normal=sum(piece.failing_normal for piece in pieces),
        failing_normal_difference=max(piece.failing_normal_difference for piece in pieces),
        failing_normal_at=_earliest(piece.failing_normal_at for piece in pieces),
        cancelled=_joined_region([piece.cancelled for piece in pieces]),
        small=_joined_region([piece.small for piece in pieces]),
    )


def _joined_region(pieces: Sequence[Region]) -> Region:
    return Region(
        count=sum(piece.count for piece in pieces),
        failing=sum(piece.failing for piece in pieces),
        largest_found=max(piece.largest_found for piece in pieces),
        non_zero=sum(piece.non_zero for piece in pieces),
        difference_sum=math.fsum(piece.difference_sum for piece in pieces),
        golden_sum=math.fsum(piece.golden_sum for piece in pieces),
    )


def _earliest(indices: Iterable[int | None]) -> int | None:
    return min((index for index in indices if index is not None), default=None)


def _first(mask: NDArray[np.bool_], start: int) -> int | None:
    """The flat index of the first True."""
    return start + int(mask.argmax()) if mask.any() else None


def _count(mask: NDArray[np.bool_]) -> int:
    return int(np.count_nonzero(mask))
