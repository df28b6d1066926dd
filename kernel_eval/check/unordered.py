"""Outputs whose order is free: both sides are sorted, then judged like any other (`judging.md` section 1).

They are multisets: how often a value occurs counts. Sorting pairs the elements so
that the largest error is as small as any pairing can make it, because the ends of
the tolerated range around a golden grow with the golden.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch

from kernel_eval.check.bits import as_signed, comparable
from kernel_eval.check.outcome import TensorOutcome
from kernel_eval.check.tolerances import Bounds
from kernel_eval.check.values import compare_values
from kernel_eval.errors import GoldenFault


def compare_sets(
    found: torch.Tensor,
    golden: torch.Tensor,
    axis: int | None,
    bounds: Bounds,
    same_precision: Callable[[], torch.Tensor],
) -> TensorOutcome:
    """Judge `found` with its elements along `axis` in any order; None: in the whole tensor."""
    if axis is None or found.dim() == 0:
        found, golden, axis = found.reshape(-1), golden.reshape(-1), 0
    if not -found.dim() <= axis < found.dim():
        raise GoldenFault(f"a set output has the axis {axis}, but {found.dim()} dimensions")
    left, order = _sorted(found, axis)
    right, _ = _sorted(golden, axis)
    shape, along = found.shape, axis % found.dim()
    outcome = compare_values(left, right, bounds, lambda: _sorted(same_precision().reshape(shape), along)[0])
    outcome = replace(outcome, rule=f"set.{outcome.rule}")
    if outcome.worst is None:
        return outcome
    wanted = float(right.reshape(-1)[outcome.worst].item())
    return replace(outcome, worst=_original(outcome.worst, order, along), against=wanted)


def _sorted(tensor: torch.Tensor, axis: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The tensor with its elements in ascending order along the axis, NaN last, and where each one came from."""
    order = comparable(tensor).argsort(axis)
    bits = as_signed(tensor.contiguous()).gather(axis, order)
    return bits.view(tensor.dtype), order


def _original(at: int, order: torch.Tensor, axis: int) -> int:
    """The flat index in the unsorted tensor of what stands at the flat index `at` of the sorted one."""
    place = [int(position) for position in np.unravel_index(at, tuple(order.shape))]
    place[axis] = int(order[tuple(place)])
    return int(np.ravel_multi_index(place, tuple(order.shape)))
