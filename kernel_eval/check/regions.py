"""The fallback by region, after the first screen failed (`judging.md` section 1, rules 5 and 6; paper, appendix A)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from kernel_eval.check.chunks import Floats, Scratch, over_chunks
from kernel_eval.check.measure import PIECE, Array, Measured, Region, failing_of
from kernel_eval.check.outcome import TensorOutcome
from kernel_eval.check.tolerances import DENOMINATOR_FLOOR, Tolerance

LARGEST_RATIO = 2.0


@dataclass(frozen=True)
class Peer:
    """Errors of the same-precision run of the golden, counted by the same rules; all 0 where it was not needed."""

    failing_small: int = 0
    failing_cancelled: int = 0
    small_difference_sum: float = 0.0
    cancelled_difference_sum: float = 0.0
    largest_difference: float = 0.0


def judge_regions(measured: Measured, tolerance: Tolerance, relief: bool, peer_of: Callable[[], Peer]) -> TensorOutcome:
    """Decide by region. `peer_of` is called only where its result can change the verdict."""
    refusal = _refusal_without_peer(measured, tolerance, relief)
    peer = Peer()
    if refusal is None and _needs_peer(measured, tolerance):
        peer = peer_of()
        refusal = _refusal_by_peer(measured, tolerance, peer)
    rule, message = refusal or ("regions", "")
    return TensorOutcome(
        passed=refusal is None,
        rule=rule,
        message=message,
        mean=measured.mean,
        largest=measured.largest,
        worst=measured.failing_normal_at if rule == "regions.normal" else measured.largest_at,
        regions=_figures(measured, peer),
    )


def _refusal_without_peer(measured: Measured, tolerance: Tolerance, relief: bool) -> tuple[str, str] | None:
    """What fails whatever the same-precision run did: (rule, message)."""
    if measured.failing_normal and not relief:
        return "regions.normal", (
            f"{measured.failing_normal} of {measured.normal} ordinary elements have a relative error of "
            f"{tolerance.peak:.3g} or more{_or_lost(tolerance)}, the largest {measured.largest:.3g}"
        )
    if not measured.normal_mean < tolerance.mean:
        return "regions.normal_mean", (
            f"the mean relative error of ordinary elements is {measured.normal_mean:.3g}, "
            f"must be below {tolerance.mean:.3g}"
        )
    if measured.small.largest_found > 2 * tolerance.small:
        return "regions.small_size", (
            f"where the golden is below {tolerance.small:.3g}, {measured.small.largest_found:.3g} was found"
        )
    return None


def _or_lost(tolerance: Tolerance) -> str:
    return ", are zero or of the other sign" if tolerance.guards_sign else ""


def _needs_peer(measured: Measured, tolerance: Tolerance) -> bool:
    return (
        measured.small.failing > LARGEST_RATIO
        or measured.cancelled.failing > LARGEST_RATIO
        or measured.failing_normal > 0
        or any(region.difference_sum > bound for _, region, bound in _summed(measured, tolerance, Peer()))
    )


def _refusal_by_peer(measured: Measured, tolerance: Tolerance, peer: Peer) -> tuple[str, str] | None:
    for name, region, allowed in (
        ("small", measured.small, peer.failing_small),
        ("cancellation", measured.cancelled, peer.failing_cancelled),
    ):
        if region.failing / max(allowed, 1) > LARGEST_RATIO:
            return f"regions.{name}", (
                f"{region.failing} errors in the {name} region; a plain run in the same precision makes {allowed}"
            )
    for name, region, bound in _summed(measured, tolerance, peer):
        if region.difference_sum > bound:
            return f"regions.{name}_sum", (
                f"elements of the {name} region are off by {region.difference_sum:.3g} in total, "
                f"allowed are {bound:.3g}"
            )
    relieved = tolerance.relief * peer.largest_difference
    if measured.failing_normal_difference > relieved:
        return "regions.normal", (
            f"{measured.failing_normal} ordinary elements are off by up to {measured.failing_normal_difference:.3g}, "
            f"more than the {relieved:.3g} that a plain run in the same precision excuses"
        )
    return None


def _summed(measured: Measured, tolerance: Tolerance, peer: Peer) -> list[tuple[str, Region, float]]:
    """The regions that nobody may leave out as a whole, each with the most that its differences may add up to.

    The cancellation region is one of them only where no element is normal: otherwise those hold the tensor.
    """
    small, cancelled = measured.small, measured.cancelled
    found = [("small", small, _sum_bound(small, peer.small_difference_sum, tolerance.tiniest))]
    if not measured.normal:
        free = max(tolerance.tiniest, tolerance.cancelled_error)
        found.append(("cancellation", cancelled, _sum_bound(cancelled, peer.cancelled_difference_sum, free)))
    return found


def _sum_bound(region: Region, peer_sum: float, free: float) -> float:
    return max(region.golden_sum / 2, 2 * peer_sum) + region.non_zero * free


def _figures(measured: Measured, peer: Peer) -> dict[str, dict[str, float]]:
    return {
        "normal": {
            "count": measured.normal,
            "errors": measured.failing_normal,
            "mean_re": measured.normal_mean,
        },
        "small": {
            "count": measured.small.count,
            "errors": measured.small.failing,
            "same_precision_errors": peer.failing_small,
        },
        "cancellation": {
            "count": measured.cancelled.count,
            "errors": measured.cancelled.failing,
            "same_precision_errors": peer.failing_cancelled,
        },
    }


def measure_peer(peer: torch.Tensor, found: torch.Tensor, golden: torch.Tensor, tolerance: Tolerance) -> Peer:
    """Errors of the same-precision run `peer` over the elements that count between `found` and `golden`; all flat."""

    tensors, scratch = [Floats(tensor) for tensor in (peer, found, golden)], Scratch()

    def piece(start: int, stop: int) -> Peer:
        with np.errstate(all="ignore"):
            arrays = [
                tensor.read(start, stop, scratch.array(str(at), stop - start, np.float64))
                for at, tensor in enumerate(tensors)
            ]
            return _peer_piece(arrays[0], arrays[1], arrays[2], tolerance)

    pieces = over_chunks(peer.numel(), piece, PIECE)
    return Peer(
        failing_small=sum(piece.failing_small for piece in pieces),
        failing_cancelled=sum(piece.failing_cancelled for piece in pieces),
        small_difference_sum=math.fsum(piece.small_difference_sum for piece in pieces),
        cancelled_difference_sum=math.fsum(piece.cancelled_difference_sum for piece in pieces),
        largest_difference=max((piece.largest_difference for piece in pieces), default=0.0),
    )


def _peer_piece(peer: Array, found: Array, golden: Array, tolerance: Tolerance) -> Peer:
    """A non-finite value of the same-precision run is no error."""
    counts = np.isfinite(peer) & ~(np.isnan(golden) | np.isnan(found) | (np.isinf(golden) & (found == golden)))
    if not counts.all():
        peer, golden = peer[counts], np.clip(golden[counts], -tolerance.largest, tolerance.largest)
    if not peer.size:
        return Peer()
    difference = np.abs(peer - golden)
    near = np.flatnonzero(np.abs(golden) < max(tolerance.cancelled, tolerance.small))
    off, magnitude, size = difference[near], np.abs(golden[near]), np.abs(peer[near])
    failing = failing_of(off / (magnitude + DENOMINATOR_FLOOR), peer[near], golden[near], tolerance)
    small, cancels = magnitude < tolerance.small, magnitude < tolerance.cancelled
    cancelled = ~small & cancels & (size < tolerance.cancelled)
    return Peer(
        failing_small=int(np.count_nonzero(failing & small & (off > tolerance.small_error))),
        failing_cancelled=int(np.count_nonzero(failing & cancelled & (off > tolerance.cancelled_error))),
        small_difference_sum=float(off[small & (magnitude > 0)].sum()),
        cancelled_difference_sum=float(off[~small & cancels].sum()),
        largest_difference=float(difference.max()),
    )
