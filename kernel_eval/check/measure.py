"""The exact comparison of one tensor in FP64: special values, relative errors, sums per region, in one pass."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch

from kernel_eval.check.chunks import over_chunks
from kernel_eval.check.tolerances import DENOMINATOR_FLOOR, Tolerance


@dataclass(frozen=True)
class SmallRegion:
    """Figures of the positions whose golden is below τ_sv.

    An error of ε_sv at most is never failing. The sums run over positions whose
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

    Counts are of elements; `failing_*` have a relative error of at least 10 τ.
    `*_at` are flat indices.
    """

    counted: int = 0
    error_sum: float = 0.0
    largest: float = 0.0
    largest_at: int | None = None
    nan_mismatch_at: int | None = None
    opposite_infinity_at: int | None = None
    normal: int = 0
    normal_error_sum: float = 0.0
    failing_normal: int = 0
    failing_normal_difference: float = 0.0
    failing_normal_at: int | None = None
    cancelled: int = 0
    failing_cancelled: int = 0
    small: SmallRegion = SmallRegion()

    @property
    def mean(self) -> float:
        """Mean relative error over all elements that count."""
        return self.error_sum / self.counted if self.counted else 0.0

    @property
    def normal_mean(self) -> float:
        """Mean relative error over the normal region; 0 where it is empty."""
        return self.normal_error_sum / self.normal if self.normal else 0.0


def measure(found: torch.Tensor, golden: torch.Tensor, tolerance: Tolerance) -> Measured:
    """Compare two flat tensors of one shape."""

    def piece(start: int, stop: int) -> Measured:
        return _measure_piece(found[start:stop].double(), golden[start:stop].double(), tolerance, start)

    return _joined(over_chunks(found.numel(), piece))


def _measure_piece(found: torch.Tensor, golden: torch.Tensor, tolerance: Tolerance, start: int) -> Measured:
    """Figures of a piece whose first element has the flat index `start`."""
    found_nan, golden_nan = found.isnan(), golden.isnan()
    nan_mismatch = _first(found_nan != golden_nan, start)
    opposite = _first(found.isinf() & golden.isinf() & (found != golden), start)
    counts = ~(golden_nan | found_nan | (golden.isinf() & (found == golden)))
    if not bool(counts.all()):
        found, golden = found[counts], golden[counts]
    found = found.clamp(-tolerance.largest, tolerance.largest)
    golden = golden.clamp(-tolerance.largest, tolerance.largest)
    difference, magnitude = (found - golden).abs_(), golden.abs()
    error = difference / (magnitude + DENOMINATOR_FLOOR)
    largest_at = _index_of(int(error.argmax()), counts, start) if error.numel() else None
    failing = error >= tolerance.peak
    small = magnitude < tolerance.small
    cancelled = ~small & (found.abs() < tolerance.cancelled) & (magnitude < tolerance.cancelled)
    normal = ~(small | cancelled)
    failing_normal = failing & normal
    at = _first(failing_normal, 0)
    return Measured(
        counted=error.numel(),
        error_sum=float(error.sum()),
        largest=float(error.max()) if error.numel() else 0.0,
        largest_at=largest_at,
        nan_mismatch_at=nan_mismatch,
        opposite_infinity_at=opposite,
        normal=int(normal.sum()),
        normal_error_sum=float(error[normal].sum()),
        failing_normal=int(failing_normal.sum()),
        failing_normal_difference=_largest(difference[failing_normal]),
        failing_normal_at=None if at is None else _index_of(at, counts, start),
        cancelled=int(cancelled.sum()),
        failing_cancelled=int((failing & cancelled & (difference > tolerance.cancelled_error)).sum()),
        small=_small_region(found[small], magnitude[small], difference[small], failing[small], tolerance),
    )


def _small_region(
    found: torch.Tensor, magnitude: torch.Tensor, difference: torch.Tensor, failing: torch.Tensor, tolerance: Tolerance
) -> SmallRegion:
    """Figures of the small region; the arguments hold its elements only."""
    if not found.numel():
        return SmallRegion()
    non_zero = magnitude > 0
    return SmallRegion(
        count=found.numel(),
        failing=int((failing & (difference > tolerance.small_error)).sum()),
        largest_found=_largest(found.abs()),
        non_zero=int(non_zero.sum()),
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
        nan_mismatch_at=_earliest(piece.nan_mismatch_at for piece in pieces),
        opposite_infinity_at=_earliest(piece.opposite_infinity_at for piece in pieces),
        normal=sum(piece.normal for piece in pieces),
        normal_error_sum=math.fsum(piece.normal_error_sum for piece in pieces),
        failing_normal=sum(piece.failing_normal for piece in pieces),
        failing_normal_difference=max(piece.failing_normal_difference for piece in pieces),
        failing_normal_at=_earliest(piece.failing_normal_at for piece in pieces),
        cancelled=sum(piece.cancelled for piece in pieces),
        failing_cancelled=sum(piece.failing_cancelled for piece in pieces),
        small=_joined_small([piece.small for piece in pieces]),
    )


def _joined_small(pieces: Sequence[SmallRegion]) -> SmallRegion:
    return SmallRegion(
        count=sum(piece.count for piece in pieces),
        failing=sum(piece.failing for piece in pieces),
        largest_found=max(piece.largest_found for piece in pieces),
        non_zero=sum(piece.non_zero for piece in pieces),
        difference_sum=math.fsum(piece.difference_sum for piece in pieces),
        golden_sum=math.fsum(piece.golden_sum for piece in pieces),
    )


def _earliest(indices: Iterable[int | None]) -> int | None:
    return min((index for index in indices if index is not None), default=None)


def _first(mask: torch.Tensor, start: int) -> int | None:
    """The flat index of the first True."""
    return start + int(mask.to(torch.uint8).argmax()) if bool(mask.any()) else None


def _index_of(position: int, counts: torch.Tensor, start: int) -> int:
    """The flat index of the element that is number `position` among those that count."""
    return start + (position if bool(counts.all()) else int(counts.nonzero()[position]))


def _largest(values: torch.Tensor) -> float:
    return float(values.max()) if values.numel() else 0.0
