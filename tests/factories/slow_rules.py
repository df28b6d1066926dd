"""The rules that know no relative error, in plain Python integers and lists: slow and obviously right."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

Number = int | float


def integers_accept(found: Sequence[int], golden: Sequence[int], peer: Sequence[int], tolerance: int) -> bool:
    """Whether integers pass: none beyond the tolerance, and few that differ at all."""
    differences = [abs(one - other) for one, other in zip(found, golden, strict=True)]
    if any(difference > tolerance for difference in differences):
        return False
    if tolerance == 0:
        return True
    differing = sum(difference > 0 for difference in differences)
    peer_differing = sum(one != other for one, other in zip(peer, golden, strict=True))
    return differing <= max(2 * peer_differing, Fraction(len(golden), 1000), 1)


def same(one: Number, other: Number) -> bool:
    """Equal in value, NaN equal to NaN."""
    return one == other or (one != one and other != other)


def row_of_indices_accepts(
    found: Sequence[int],
    golden: Sequence[int],
    table: Sequence[Number],
    wanted: Sequence[Number],
    *,
    distinct: bool = False,
    up_to_position: bool = False,
) -> bool:
    """Whether the indices along one axis pass. A golden index outside the table is met exactly."""
    looked_up = []
    for position, (index, right, value) in enumerate(zip(found, golden, wanted, strict=True)):
        if right not in range(len(table)):
            if index != right:
                return False
            continue
        if index not in range(len(table)) or (up_to_position and index > position):
            return False
        if not same(table[index], value):
            return False
        looked_up.append(index)
    return not distinct or len(set(looked_up)) == len(looked_up)


def multiset(values: Sequence[Number]) -> Counter[object]:
    """How often each value occurs; −0.0 is 0.0, every NaN is one value."""
    return Counter("NaN" if value != value else value + 0 for value in values)


def in_order(values: Sequence[float]) -> list[float]:
    """Ascending, NaN last."""
    return sorted(values, key=lambda value: (math.isnan(value), 0.0 if math.isnan(value) else value))
