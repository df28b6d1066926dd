"""Drawing value ranges and attributes of a case by its category."""

from __future__ import annotations

from random import Random

from kernel_eval.model import Attribute, RangeKind, ValueRange
from kernel_eval.suite.space import AttributeSpace, Category, InputSpace

LARGEST_OF = {"float16": 60000.0}
"""Caps for ordinary ranges, where a dtype's largest value is close to them."""
EXPONENT_BOUND = 88.0
"""Around here exp() leaves float32."""


def draw_range(category: Category, variant: int, dtype: str, largest: float, random: Random) -> ValueRange:
    """A range of `category`. `variant` counts the cases of the category, so that its kinds alternate."""
    largest = min(largest, LARGEST_OF.get(dtype, largest))
    if category is Category.ZERO:
        return ValueRange(RangeKind.ZERO)
    if category is Category.SMALL:
        return _symmetric(random.uniform(0.1, 3.0))
    if category is Category.MEDIUM:
        return _symmetric(random.uniform(3.0, 100.0))
    if category is Category.LARGE:
        return _symmetric(round(100.0 * (largest / 100.0) ** random.uniform(0.1, 1.0)))
    if category is Category.ASYMMETRIC:
        bound = 50.0 ** random.uniform(0.0, 1.0)
        return ValueRange(RangeKind.UNIFORM, round(-bound, 2), round(bound * random.uniform(1.5, 3.0), 2))
    if category is Category.BOUNDARY:
        if variant % 2 == 0:
            return ValueRange(RangeKind.BOUNDARY)
        return _symmetric(EXPONENT_BOUND + random.uniform(-0.5, 0.5))
    bound = round(random.uniform(0.5, 4.0), 3)
    return ValueRange(RangeKind.NAN if variant % 3 == 1 else RangeKind.INF, -bound, bound)


def draw_for_input(space: InputSpace, drawn: ValueRange, is_float: bool, random: Random) -> ValueRange:
    """The range of one input, given the range its case's category drew."""
    if space.ranges:
        low, high = random.choice(space.ranges)
        return ValueRange(RangeKind.UNIFORM, low, high)
    if space.positive:
        low = round(random.uniform(0.5, 1.5), 2)
        return ValueRange(RangeKind.UNIFORM, low, round(low + random.uniform(0.5, 4.0), 2))
    if not is_float and drawn.kind in (RangeKind.NAN, RangeKind.INF):
        return ValueRange(RangeKind.UNIFORM, drawn.low, drawn.high)
    return drawn


def draw_attribute(space: AttributeSpace, position: int, random: Random) -> Attribute:
    """A value of an attribute; choices rotate with `position`."""
    if space.between is not None:
        return round(random.uniform(*space.between), 2)
    return space.choices[position % len(space.choices)]


def _symmetric(bound: float) -> ValueRange:
    bound = round(bound, 3) if bound < 100 else round(bound)
    return ValueRange(RangeKind.UNIFORM, -float(bound), float(bound))
