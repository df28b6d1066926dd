"""Outputs of indices: judged by what is found where they point (`judging.md` section 1, other comparators).

Ties are free. A golden's index outside the indexed axis is a sentinel, such as
"no expert": it must be met exactly, and nothing is looked up there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch

from kernel_eval.check.bits import comparable, unequal
from kernel_eval.check.chunks import over_chunks
from kernel_eval.check.measure import failing_of
from kernel_eval.check.outcome import TensorOutcome
from kernel_eval.check.refusal import refusal
from kernel_eval.check.rounding import cast_once
from kernel_eval.check.tolerances import DENOMINATOR_FLOOR, Tolerance
from kernel_eval.errors import GoldenFault
from kernel_eval.model import Reduction

SLAB = 1 << 20
"""Indices that are sorted at a time."""


@dataclass(frozen=True)
class Indexed:
    """A tensor of indices beside the tensor it points into, both seen as (outer, along the axis, inner)."""

    found: torch.Tensor
    golden: torch.Tensor
    table: torch.Tensor
    outer: int
    inner: int

    @property
    def size(self) -> int:
        """Positions along the axis of the table."""
        return self.table.numel() // max(self.outer * self.inner, 1)

    @property
    def width(self) -> int:
        """Positions along the axis of the indices."""
        return self.found.numel() // max(self.outer * self.inner, 1)

    def own_position(self, start: int, stop: int) -> torch.Tensor:
        """Where the flat elements from `start` to `stop` stand along the axis."""
        return torch.arange(start, stop).div_(self.inner, rounding_mode="floor").remainder_(self.width)

    def places(self, indices: torch.Tensor, start: int, stop: int) -> torch.Tensor:
        """Flat places in the table of the indices from `start` to `stop`."""
        flat = torch.arange(start, stop)
        outer = flat.div(self.inner * self.width, rounding_mode="floor")
        return outer.mul_(self.size).add_(indices[start:stop]).mul_(self.inner).add_(flat.remainder_(self.inner))

    def sentinel(self, start: int, stop: int) -> torch.Tensor:
        """Where the golden points outside the table."""
        golden = self.golden[start:stop]
        return (golden < 0) | (golden >= self.size)


def indexed(found: torch.Tensor, golden: torch.Tensor, table: torch.Tensor, axis: int | None) -> Indexed:
    """Bring the three into one form. Raises `GoldenFault` where their shapes don't belong together."""
    if axis is None or table.dim() == 0:
        table, axis, sizes = table.reshape(-1), 0, [found.numel()]
    else:
        sizes = list(found.shape)
    if not -table.dim() <= axis < table.dim():
        raise GoldenFault(f"an index output has the axis {axis} of a tensor with {table.dim()} dimensions")
    axis %= table.dim()
    if len(sizes) == table.dim() - 1:
        sizes.insert(axis, 1)
    others = [size for at, size in enumerate(table.shape) if at != axis]
    if len(sizes) != table.dim() or [size for at, size in enumerate(sizes) if at != axis] != others:
        raise GoldenFault(f"indices of shape {tuple(found.shape)} can't point into a tensor of {tuple(table.shape)}")
    outer, inner = _product(table.shape[:axis]), _product(table.shape[axis + 1 :])
    return Indexed(_whole(found), _whole(golden), table.reshape(-1), outer, inner)


def judge_positions(seen: Indexed, *, distinct: bool, up_to_position: bool) -> TensorOutcome | None:
    """A refusal for what the indices are, whatever they point at: sentinels, range, position, repetition."""
    count = seen.found.numel()
    checks: list[tuple[str, str, Callable[[int, int], torch.Tensor]]] = [
        ("index.sentinel", "indices differ where the golden points at nothing", lambda *at: _lost_sentinel(seen, *at)),
        ("index.range", f"indices are not from 0 to {seen.size - 1}", lambda *at: _outside(seen, *at)),
    ]
    if up_to_position:
        checks.append(("index.position", "indices point beyond their own position", lambda *at: _beyond(seen, *at)))
    for rule, what, wrong_at in checks:
        refused = refusal(rule, what, count, wrong_at)
        if refused is not None:
            return refused
    if distinct and count:
        repeated = _repeated(seen)
        return refusal("index.distinct", "indices repeat another along the axis", count, lambda a, b: repeated[a:b])
    return None


def judge_values(seen: Indexed, wanted: torch.Tensor) -> TensorOutcome:
    """Whether every index, sentinels aside, finds the `wanted` value (flat, in the table's dtype), NaN for NaN."""
    table, values = comparable(seen.table), comparable(wanted.reshape(-1))
    count = seen.found.numel()

    def wrong_at(start: int, stop: int) -> torch.Tensor:
        skipped = seen.sentinel(start, stop)
        places = seen.places(seen.found, start, stop).masked_fill_(skipped, 0)
        return unequal(table[places], values[start:stop]) & ~skipped

    refused = refusal("index.value", "indices find another value than wanted", count, wrong_at)
    return refused or TensorOutcome(True, "index", figures=_figures(seen))


def judge_computed(seen: Indexed, wanted: torch.Tensor, tolerance: Tolerance) -> TensorOutcome:
    """The same for a table that was computed in FP64: what is found may differ from `wanted` as rounding makes it.

    Nowhere is an element failing and the difference above ε_sv; the mean
    error of what is not small is below τ. There is no second chance by region.
    """
    flat, count = wanted.reshape(-1), seen.found.numel()

    def errors(start: int, stop: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        skipped = seen.sentinel(start, stop)
        places = seen.places(seen.found, start, stop).masked_fill_(skipped, 0)
        found, golden = cast_once(seen.table[places], flat.dtype).double(), flat[start:stop].double()
        same = skipped | ~unequal(found, golden)
        difference = (found - golden).abs_().nan_to_num_(math.inf)
        error = (difference / (golden.abs() + DENOMINATOR_FLOOR)).nan_to_num_(math.inf).masked_fill_(same, 0.0)
        wrong = failing_of(error.numpy(), found.numpy(), golden.numpy(), tolerance)
        wrong &= (difference > tolerance.small_error).numpy() & ~same.numpy()
        return error, torch.from_numpy(wrong), skipped | (golden.abs() < tolerance.small)

    def wrong_at(start: int, stop: int) -> torch.Tensor:
        return errors(start, stop)[1]

    def summed(start: int, stop: int) -> tuple[float, int, float, int]:
        error, _, small = errors(start, stop)
        at = int(error.argmax())
        return float(error[~small].sum()), int(torch.count_nonzero(~small)), float(error[at]), start + at

    refused = refusal("index.value", "indices find another value than wanted", count, wrong_at)
    if refused is not None:
        return refused
    pieces = over_chunks(count, summed)
    counted = sum(piece[1] for piece in pieces)
    mean = math.fsum(piece[0] for piece in pieces) / counted if counted else 0.0
    _, _, largest, at = max(pieces, key=lambda piece: piece[2])
    if mean < tolerance.mean:
        return TensorOutcome(True, "index", "", mean, largest, at if largest else None, figures=_figures(seen))
    message = f"the mean relative error of the values found is {mean:.3g}, must be below {tolerance.mean:.3g}"
    return TensorOutcome(False, "index.mean", message, mean, largest, at, figures=_figures(seen))


def reduced(seen: Indexed, reduction: Reduction) -> torch.Tensor:
    """The largest or smallest value along the axis, one per position of the indices, `comparable`; NaN wins."""
    table = comparable(seen.table).view(seen.outer, seen.size, seen.inner)
    if not table.numel():
        return table.new_empty(0)
    extreme = table.amax(1) if reduction is Reduction.MAX else table.amin(1)
    return extreme.unsqueeze(1).expand(seen.outer, seen.width, seen.inner).reshape(-1)


def _lost_sentinel(seen: Indexed, start: int, stop: int) -> torch.Tensor:
    return seen.sentinel(start, stop) & (seen.found[start:stop] != seen.golden[start:stop])


def _outside(seen: Indexed, start: int, stop: int) -> torch.Tensor:
    found = seen.found[start:stop]
    return ((found < 0) | (found >= seen.size)) & ~seen.sentinel(start, stop)


def _beyond(seen: Indexed, start: int, stop: int) -> torch.Tensor:
    return (seen.found[start:stop] > seen.own_position(start, stop)) & ~seen.sentinel(start, stop)


def _repeated(seen: Indexed) -> torch.Tensor:
    """Where an index stands a second time along the axis; sentinels may repeat."""
    shape, repeated = (seen.outer, seen.width, seen.inner), torch.zeros(seen.found.numel(), dtype=torch.bool)
    found, marks = seen.found.view(shape), repeated.view(shape)
    step = max(SLAB // max(seen.width * seen.inner, 1), 1)
    for start in range(0, seen.outer, step):
        slab = found[start : start + step]
        first, last = start * seen.width * seen.inner, (start + slab.shape[0]) * seen.width * seen.inner
        skipped = seen.sentinel(first, last).view(slab.shape)
        ordered, order = slab.sort(dim=1, stable=True)
        again = torch.zeros_like(slab, dtype=torch.bool)
        again[:, 1:] = ordered[:, 1:] == ordered[:, :-1]
        marks[start : start + step].scatter_(1, order, again).logical_and_(~skipped)
    return repeated


def _figures(seen: Indexed) -> dict[str, float]:
    """How many indices there are, and how many are others than the golden's, which ties allow."""
    other = over_chunks(seen.found.numel(), lambda a, b: int(torch.count_nonzero(seen.found[a:b] != seen.golden[a:b])))
    return {"elements": seen.found.numel(), "other_than_golden": sum(other)}


def _whole(indices: torch.Tensor) -> torch.Tensor:
    """Flat indices as int64; the upper half of uint64 becomes negative, and thus lies outside every axis."""
    flat = indices.reshape(-1)
    return flat.view(torch.int64) if flat.dtype == torch.uint64 else flat.to(torch.int64)


def _product(sizes: torch.Size | list[int]) -> int:
    product = 1
    for size in sizes:
        product *= size
    return product
