"""Drawing shapes: element count, rank and alignment given, sizes random."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from random import Random

from kernel_eval.model import Shape

ALIGNED_BYTES = 512
"""A case counts as non-aligned when some input's innermost byte length is no multiple of this."""


class Regime(StrEnum):
    """Three sizes: fits on the chip, medium, large (elements over all inputs, `small` scale)."""

    SMALL = "small"
    MEDIUM = "medium"
    LARGE = "large"


ELEMENTS = {Regime.SMALL: (1 << 12, 1 << 14), Regime.MEDIUM: (1 << 14, 3 << 15), Regime.LARGE: (3 << 15, 1 << 18)}
"""Element counts per regime, lowest and highest, at the small scale."""


class Alignment(StrEnum):
    """How the sizes of a shape are chosen."""

    ALIGNED = "aligned"
    PRIME = "prime"
    ODD = "odd"


@dataclass(frozen=True)
class ShapePlan:
    """What a shape is to be like. `even_axis` (counted from 0) must have an even size."""

    rank: int
    elements: int
    alignment: Alignment
    item_bytes: int
    even_axis: int | None = None


def draw_shape(plan: ShapePlan, random: Random) -> Shape:
    """A shape near the plan's element count."""
    if plan.rank == 0:
        return ()
    inner_least = ALIGNED_BYTES // plan.item_bytes if plan.alignment is Alignment.ALIGNED else 5
    outer = _outer_sizes(plan, inner_least, random)
    inner = max(round(plan.elements / math.prod(outer)), inner_least)
    sizes = [*outer, _inner_size(inner, plan)]
    if plan.even_axis is not None and sizes[plan.even_axis] % 2:
        sizes[plan.even_axis] += 1 if plan.even_axis < plan.rank - 1 else sizes[plan.even_axis]
    return tuple(sizes)


def _outer_sizes(plan: ShapePlan, inner_least: int, random: Random) -> list[int]:
    """The leading sizes: a random share of the element count that leaves enough for the innermost one."""
    room = math.log(max(plan.elements / inner_least, 2.0)) * random.uniform(0.45, 0.85)
    weights = [random.uniform(0.4, 1.6) for _ in range(plan.rank - 1)]
    sizes = [max(2, round(math.exp(room * weight / sum(weights)))) for weight in weights]
    if plan.alignment is Alignment.ALIGNED and random.random() < 0.5:
        return sizes
    return [_rounded(size, plan.alignment) for size in sizes]


def _rounded(size: int, alignment: Alignment) -> int:
    if alignment is Alignment.PRIME:
        return nearest_prime(size)
    if alignment is Alignment.ODD:
        return size | 1
    return 1 << round(math.log2(size))


def _inner_size(size: int, plan: ShapePlan) -> int:
    """The innermost size; for an even innermost axis it is twice a prime or odd number."""
    halves = plan.even_axis == plan.rank - 1
    if plan.alignment is Alignment.ALIGNED:
        step = ALIGNED_BYTES // plan.item_bytes
        return max(1, round(size / step)) * step
    if halves:
        return 2 * _rounded(max(3, size // 2), plan.alignment)
    return _rounded(size, plan.alignment)


def nearest_prime(number: int) -> int:
    """The prime nearest to `number`; the smaller one of two."""
    for distance in range(number):
        for candidate in (number - distance, number + distance):
            if is_prime(candidate):
                return candidate
    return 2


def is_prime(number: int) -> bool:
    """Whether `number` is prime."""
    return number > 1 and all(number % divisor for divisor in range(2, math.isqrt(number) + 1))
