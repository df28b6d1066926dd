"""Integers and bool, equal bit by bit or within a quantised output's tolerance (`judging.md` section 1, rule 2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from kernel_eval.check.bits import as_signed
from kernel_eval.check.chunks import over_chunks
from kernel_eval.check.outcome import TensorOutcome

FREE_SHARE = 1000
"""One element in so many may differ within the tolerance, whatever the same-precision run does."""
PEER_FACTOR = 2


@dataclass(frozen=True)
class _Differences:
    """Of `count` elements: how many differ, how many by more than the tolerance, the largest difference and where."""

    count: int
    differing: int
    beyond: int
    largest: int
    at: int


def compare_integers(
    found: torch.Tensor, golden: torch.Tensor, tolerance: int, same_precision: Callable[[], torch.Tensor]
) -> TensorOutcome:
    """Judge integers or bool of one dtype and shape; a bool byte that is neither 0 nor 1 equals nothing.

    No difference above `tolerance`; of smaller ones at most twice as many as the
    same-precision run has, or one element in a thousand, or one. `same_precision`
    is called at most once, and only where the verdict hangs on it.
    """
    left, right = found.reshape(-1), golden.reshape(-1)
    exact = "boolean" if found.dtype == torch.bool else "integers"
    if not count_unequal(left, right):
        return TensorOutcome(True, exact, figures={"elements": left.numel(), "differing": 0})
    seen = _differences(left, right, tolerance)
    if tolerance == 0:
        return _refused(exact, seen, f"{seen.differing} of {seen.count} elements differ", left, right)
    if seen.beyond:
        what = f"{seen.beyond} of {seen.count} elements differ by more than {tolerance}"
        return _refused("integers.tolerance", seen, what, left, right)
    return _within(seen, lambda: count_unequal(same_precision().reshape(-1), right))


def count_unequal(left: torch.Tensor, right: torch.Tensor) -> int:
    """How many elements of two flat tensors of one dtype differ in their bits."""
    one, other = as_signed(left), as_signed(right)
    return sum(
        over_chunks(one.numel(), lambda start, stop: int(torch.count_nonzero(one[start:stop] != other[start:stop])))
    )


def _within(seen: _Differences, peer_differing: Callable[[], int]) -> TensorOutcome:
    """The mismatch cap, where no element is beyond the tolerance."""
    figures = _figures(seen)
    allowed = max(seen.count / FREE_SHARE, 1.0)
    if seen.differing > 1 and seen.differing * FREE_SHARE > seen.count:
        peer = peer_differing()
        allowed = max(allowed, float(PEER_FACTOR * peer))
        figures["same_precision_differing"] = peer
    figures["allowed_differing"] = allowed
    if seen.differing <= allowed:
        return TensorOutcome(True, "integers.tolerance", figures=figures, worst=seen.at)
    message = f"{seen.differing} of {seen.count} elements differ within the tolerance, allowed are {int(allowed)}"
    return TensorOutcome(False, "integers.mismatches", message, figures=figures, worst=seen.at)


def _differences(found: torch.Tensor, golden: torch.Tensor, tolerance: int) -> _Differences:
    left, right = _array(found), _array(golden)

    def piece(start: int, stop: int) -> _Differences:
        off = distances(left[start:stop], right[start:stop])
        at = int(off.argmax())
        beyond = int(np.count_nonzero(off > np.uint64(tolerance)))
        return _Differences(stop - start, int(np.count_nonzero(off)), beyond, int(off[at]), start + at)

    pieces = over_chunks(found.numel(), piece)
    worst = max(pieces, key=lambda entry: entry.largest)
    return _Differences(
        sum(entry.count for entry in pieces),
        sum(entry.differing for entry in pieces),
        sum(entry.beyond for entry in pieces),
        worst.largest,
        worst.at,
    )


def distances(left: NDArray[np.generic], right: NDArray[np.generic]) -> NDArray[np.uint64]:
    """|left − right| of integers of one dtype, without overflow.

    The larger minus the smaller, modulo 2⁶⁴, is the true difference, which no two integers of 64 bits exceed.
    """
    larger, smaller = np.maximum(left, right), np.minimum(left, right)
    off: NDArray[np.uint64] = larger.astype(np.uint64) - smaller.astype(np.uint64)
    return off


def _array(tensor: torch.Tensor) -> NDArray[np.generic]:
    array: NDArray[np.generic] = (tensor.view(torch.uint8) if tensor.dtype == torch.bool else tensor).numpy()
    return array


def _figures(seen: _Differences) -> dict[str, float]:
    return {"elements": seen.count, "differing": seen.differing, "largest_difference": float(seen.largest)}


def _refused(rule: str, seen: _Differences, what: str, found: torch.Tensor, golden: torch.Tensor) -> TensorOutcome:
    at = seen.at
    message = f"{what}, the worst is {int(_array(found)[at])} at {at} instead of {int(_array(golden)[at])}"
    return TensorOutcome(False, rule, message, figures=_figures(seen), worst=at)
