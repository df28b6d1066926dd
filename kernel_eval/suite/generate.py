"""Generating an operator's public or hidden cases from its declared shape space.

Deterministic in the seed. The coverage that `kernel_eval.suite.validate` demands
is planned, not hoped for: categories, sizes and alignments are dealt out in fixed
shares, dtypes and attribute choices rotate, and whatever must be unique is
redrawn until it is.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeVar

from kernel_eval.model import (
    ITEM_BYTES,
    Attribute,
    Case,
    InputShape,
    Operator,
    RangeKind,
    Shape,
    Split,
    ValueRange,
    element_count,
)
from kernel_eval.suite.ranges import draw_attribute, draw_for_input, draw_range
from kernel_eval.suite.shapes import ELEMENTS, Alignment, Regime, ShapePlan, draw_shape
from kernel_eval.suite.space import CaseSpace, Category

PUBLIC_COUNT = 20
HIDDEN_COUNT = 80
T = TypeVar("T")
_ATTEMPTS = 200
_REDRAWS = 8

CATEGORY_SHARES = {
    Category.SMALL: 4,
    Category.MEDIUM: 3,
    Category.LARGE: 3,
    Category.ASYMMETRIC: 4,
    Category.BOUNDARY: 2,
    Category.SPECIAL: 3,
    Category.ZERO: 1,
}
REGIME_SHARES = {Regime.SMALL: 6, Regime.MEDIUM: 8, Regime.LARGE: 6}
ALIGNMENT_SHARES = {Alignment.ALIGNED: 7, Alignment.PRIME: 9, Alignment.ODD: 4}
"""Cases out of every twenty."""


@dataclass(frozen=True)
class Slot:
    """What one case of a set is to cover. `variant` counts the cases of its category."""

    position: int
    category: Category
    variant: int
    regime: Regime
    alignment: Alignment
    rank: int
    dtypes: tuple[str, ...]


def generate_cases(
    operator: Operator, space: CaseSpace, split: Split, count: int, seed: bytes, taken: Iterable[Case] = ()
) -> tuple[Case, ...]:
    """`count` cases of `operator`, none of them among `taken`."""
    digest = hashlib.sha256(b"cases/" + seed + f"/{operator.name}/{split}".encode()).digest()
    random = Random(int.from_bytes(digest, "big"))
    drawing = _Drawing(operator, space, random, taken)
    return tuple(drawing.case(slot, split) for slot in _slots(space, count, random))


def _slots(space: CaseSpace, count: int, random: Random) -> Iterator[Slot]:
    allowed = {name: share for name, share in CATEGORY_SHARES.items() if name not in space.exemptions}
    categories = _dealt(allowed, count, random)
    regimes = _dealt(REGIME_SHARES, count, random)
    alignments = _dealt(ALIGNMENT_SHARES, count, random)
    ranks = _dealt(dict.fromkeys(space.ranks, 1), count, random)
    seen: Counter[Category] = Counter()
    for position, category in enumerate(categories):
        yield Slot(
            position=position,
            category=category,
            variant=seen[category],
            regime=regimes[position],
            alignment=alignments[position],
            rank=ranks[position],
            dtypes=space.dtypes[position % len(space.dtypes)],
        )
        seen[category] += 1


def _dealt(shares: dict[T, int], count: int, random: Random) -> list[T]:
    """`count` entries in the proportion of `shares`, each at least once where there is room, in random order."""
    deck = [entry for entry, share in shares.items() for _ in range(share)]
    dealt: list[T] = []
    while len(dealt) < count:
        random.shuffle(deck)
        dealt.extend(deck)
    dealt = dealt[:count]
    random.shuffle(dealt)
    return dealt


class _Drawing:
    """Draws cases one by one and remembers what has been used."""

    def __init__(self, operator: Operator, space: CaseSpace, random: Random, taken: Iterable[Case]) -> None:
        self._operator = operator
        self._space = space
        self._random = random
        self._taken = {(case.shapes, case.dtypes) for case in taken}
        self._combinations: Counter[tuple[object, ...]] = Counter()
        self._elements: set[int] = set()
        self._ranges: set[tuple[ValueRange, ...]] = set()
        self._count = 0

    def case(self, slot: Slot, split: Split) -> Case:
        """The case of one slot."""
        special = self._special_attribute(slot)
        attributes = self._attributes(slot) | dict([special] if special else [])
        self._combinations[_combination(slot, attributes)] += 1
        self._count += 1
        case = Case(
            operator=self._operator.name,
            case_id=self._count,
            split=split,
            shapes=self._shapes(slot, attributes),
            dtypes=slot.dtypes,
            attributes=attributes,
            value_ranges=self._value_ranges(slot, special is not None),
            note=f"{slot.regime}, {slot.alignment} sizes, {slot.category.replace('_', ' ')}",
        )
        self._elements.add(element_count(case))
        self._ranges.add(case.value_ranges)
        self._taken.add((case.shapes, case.dtypes))
        return case

    def _attributes(self, slot: Slot) -> dict[str, Attribute]:
        """The least used combination with these dtypes."""
        options = [self._attributes_at(slot, position) for position in range(self._option_count(slot))]
        self._random.shuffle(options)
        return min(options, key=lambda option: self._combinations[_combination(slot, option)])

    def _option_count(self, slot: Slot) -> int:
        spaces = [self._space.attribute(name, slot.category) for name in self._space.attributes]
        redraws = _REDRAWS if any(space.between for space in spaces) else 1
        return redraws * math.prod(len(space.choices) or 1 for space in spaces)

    def _attributes_at(self, slot: Slot, position: int) -> dict[str, Attribute]:
        attributes: dict[str, Attribute] = {}
        for name in self._space.attributes:
            space = self._space.attribute(name, slot.category)
            attributes[name] = draw_attribute(space, position, self._random)
            position //= len(space.choices) or 1
        return attributes

    def _special_attribute(self, slot: Slot) -> tuple[str, Attribute] | None:
        """What is special in every third case of the special category: the value least used with these dtypes."""
        if slot.category is not Category.SPECIAL or slot.variant % 3 != 2:
            return None
        for name, space in self._space.attributes.items():
            if space.special:
                return name, min(space.special, key=lambda value: self._combinations[_combination(slot, {name: value})])
        return None

    def _shapes(self, slot: Slot, attributes: dict[str, Attribute]) -> tuple[InputShape, ...]:
        """Shapes whose element count and (shapes, dtypes) are new; where that is hard, the regime's bound widens."""
        for attempt in range(_ATTEMPTS):
            shapes = self._drawn_shapes(slot, attributes, 1 + attempt // 25)
            entry: InputShape = shapes if self._operator.inputs[0].tensor_list else shapes[0]
            entries = (entry,) * len(self._operator.inputs)
            elements = sum(map(math.prod, shapes)) * len(entries)
            if elements not in self._elements and (entries, slot.dtypes) not in self._taken:
                return entries
        raise ValueError(f"{self._operator.name}: the shape space holds too few different shapes of rank {slot.rank}")

    def _drawn_shapes(self, slot: Slot, attributes: dict[str, Attribute], widening: int) -> tuple[Shape, ...]:
        low, high = ELEMENTS[slot.regime]
        if slot.regime is Regime.LARGE:
            high *= 2 if slot.position % 20 == 0 else 1
        else:
            high *= widening
        lists = self._operator.inputs[0].tensor_list
        length = self._random.randint(*self._space.list_lengths) if lists else 1
        total = math.exp(self._random.uniform(math.log(low), math.log(high))) / len(self._operator.inputs)
        weights = [self._random.uniform(0.5, 1.5) for _ in range(length)]
        return tuple(
            self._drawn_shape(slot, attributes, max(1, round(total * weight / sum(weights))), index)
            for index, weight in enumerate(weights)
        )

    def _drawn_shape(self, slot: Slot, attributes: dict[str, Attribute], elements: int, index: int) -> Shape:
        rank, even_axis = self._rank(slot, attributes, index), None
        if self._space.halved_axis:
            axis = attributes[self._space.halved_axis]
            assert isinstance(axis, int), "an axis is a whole number"
            even_axis = axis % rank
        item_bytes = ITEM_BYTES[slot.dtypes[0]]
        return draw_shape(ShapePlan(rank, elements, slot.alignment, item_bytes, even_axis), self._random)

    def _rank(self, slot: Slot, attributes: dict[str, Attribute], index: int) -> int:
        """The slot's rank, or the nearest one in which every axis attribute exists; later list entries vary."""
        named = [attributes[name] for name, space in self._space.attributes.items() if space.axis]
        axes = [axis for axis in named if isinstance(axis, int)]
        ranks = [rank for rank in self._space.ranks if all(-rank <= axis < rank for axis in axes)]
        return min(ranks, key=lambda rank: abs(rank - slot.rank)) if index == 0 else self._random.choice(ranks)

    def _value_ranges(self, slot: Slot, plain: bool) -> tuple[ValueRange, ...]:
        """One range per input; new as a whole, unless the category has a single point."""
        ranges: tuple[ValueRange, ...] = ()
        for _ in range(_ATTEMPTS):
            category = Category.SMALL if plain else slot.category
            drawn = draw_range(category, slot.variant, slot.dtypes[0], self._space.largest, self._random)
            ranges = tuple(
                draw_for_input(
                    self._space.values(spec.name, slot.category), drawn, _is_float(slot.dtypes[index]), self._random
                )
                for index, spec in enumerate(self._operator.inputs)
            )
            if ranges not in self._ranges or one_point(ranges):
                return ranges
        return ranges


def _combination(slot: Slot, attributes: dict[str, Attribute]) -> tuple[object, ...]:
    """What is counted as used: dtypes with attributes, as text because NaN equals nothing."""
    return slot.dtypes, repr(sorted(attributes.items()))


def one_point(ranges: Sequence[ValueRange]) -> bool:
    """Whether the ranges belong to a category of a single range, which may occur again."""
    return any(value_range.kind in (RangeKind.ZERO, RangeKind.BOUNDARY) for value_range in ranges)


def _is_float(dtype: str) -> bool:
    return "float" in dtype
