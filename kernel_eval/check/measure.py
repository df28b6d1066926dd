"""The exact comparison of one tensor in FP64: special values, relative errors, sums per region, in one pass."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

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
    difference, magnitude = (found - golden).abs_(), golden.abs()
    error = difference / (magnitude + DENOMINATOR_FLOOR)
    largest = float(error.amax())
    if math.isfinite(largest):
        return _measure_finite(found.abs(), magnitude, difference, error, tolerance, start)
    return _measure_special(found, golden, tolerance, start)


def _measure_special(found: torch.Tensor, golden: torch.Tensor, tolerance: Tolerance, start: int) -> Measured:
    """Figures of a piece with NaN or infinities: what agrees is left out, a one-sided infinity becomes finite."""
    found_nan, golden_nan = found.isnan(), golden.isnan()
    nan_mismatch = _first(found_nan != golden_nan, start)
    opposite = _first(found.isinf() & golden.isinf() & (found != golden), start)
    counts = ~(golden_nan | found_nan | (golden.isinf() & (found == golden)))
    found = found[counts].clamp_(-tolerance.largest, tolerance.largest)
    golden = golden[counts].clamp_(-tolerance.largest, tolerance.largest)
    measured = Measured()
    if found.numel():
        difference, magnitude = (found - golden).abs_(), golden.abs()
        error = difference / (magnitude + DENOMINATOR_FLOOR)
        measured = _measure_finite(found.abs(), magnitude, difference, error, tolerance, 0)
    places = counts.nonzero().view(-1)
    return replace(
        measured,
        nan_mismatch_at=nan_mismatch,
        opposite_infinity_at=opposite,
        largest_at=None if measured.largest_at is None else start + int(places[measured.largest_at]),
        failing_normal_at=None
        if measured.failing_normal_at is None
        else start + int(places[measured.failing_normal_at]),
    )


def _measure_finite(
    found: torch.Tensor,
    magnitude: torch.Tensor,
    difference: torch.Tensor,
    error: torch.Tensor,
    tolerance: Tolerance,
    start: int,
) -> Measured:
    """Figures of elements that all count; `found` and `magnitude` are |ŷ| and |y|."""
    small = magnitude < tolerance.small
    cancelled = (found < tolerance.cancelled) & (magnitude < tolerance.cancelled) & ~small
    normal = ~(small | cancelled)
    failing = error >= tolerance.peak
    failing_normal = failing & normal
    at = _first(failing_normal, start)
    return Measured(
        counted=error.numel(),
        error_sum=float(error.sum()),
        largest=float(error.amax()),
        largest_at=start + int(error.argmax()),
        normal=_count(normal),
        normal_error_sum=_sum_where(normal, error),
        failing_normal=0 if at is None else _count(failing_normal),
        failing_normal_difference=0.0 if at is None else _largest_where(failing_normal, difference),
        failing_normal_at=at,
        cancelled=_count(cancelled),
        failing_cancelled=_count(failing & cancelled & (difference > tolerance.cancelled_error)),
        small=_small_region(small, found, magnitude, difference, failing, tolerance),
    )


def _small_region(
    small: torch.Tensor,
    found: torch.Tensor,
    magnitude: torch.Tensor,
    difference: torch.Tensor,
    failing: torch.Tensor,
    tolerance: Tolerance,
) -> SmallRegion:
    """Figures of the elements marked by `small`."""
    count = _count(small)
    if not count:
        return SmallRegion()
    non_zero = small & (magnitude > 0)
    return SmallRegion(
        count=count,
        failing=_count(failing & small & (difference > tolerance.small_error)),
        largest_found=_largest_where(small, found),
        non_zero=_count(non_zero),
        difference_sum=_sum_where(non_zero, difference),
        golden_sum=_sum_where(small, magnitude),
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
    return start + int(mask.to(torch.uint8).argmax()) if _count(mask) else None


def _count(mask: torch.Tensor) -> int:
    return int(torch.count_nonzero(mask))


def _sum_where(mask: torch.Tensor, values: torch.Tensor) -> float:
    """The sum of the finite `values` that are marked; multiplying is several times faster than selecting."""
    return float(mask.to(values.dtype).mul_(values).sum())


def _largest_where(mask: torch.Tensor, values: torch.Tensor) -> float:
    return float(mask.to(values.dtype).mul_(values).amax())
