"""One case of an operator: shapes, dtypes, attributes, value ranges. Holds no tensor."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

Shape = tuple[int, ...]
InputShape = Shape | tuple[Shape, ...] | None
"""A tensor's shape, the shapes of a tensor list, or None for an omitted optional input."""
Attribute = int | float | str | bool | tuple[int | float | str | bool, ...] | None
"""Lists and None occur in imported suites only."""


class Split(StrEnum):
    """Public cases are open to everyone; hidden ones stay with the worker."""

    PUBLIC = "public"
    HIDDEN = "hidden"


class RangeKind(StrEnum):
    """How the values of one input are drawn (`judging.md` section 2)."""

    UNIFORM = "uniform"
    BOUNDARY = "boundary"
    ZERO = "zero"
    NAN = "nan"
    INF = "inf"


@dataclass(frozen=True)
class ValueRange:
    """Values of one input: `low` ≤ value ≤ `high`; integers inclusive.

    `BOUNDARY` draws up to the dtype's largest finite value of either sign;
    `NAN` and `INF` draw from `low`…`high` and then overlay NaN or ±inf.
    """

    kind: RangeKind
    low: float = 0.0
    high: float = 0.0


@dataclass(frozen=True)
class Case:
    """A case of an operator's set. `case_id` counts from 1 within its split.

    `shapes`, `dtypes` and `value_ranges` have one entry per declared input.
    """

    operator: str
    case_id: int
    split: Split
    shapes: tuple[InputShape, ...]
    dtypes: tuple[str, ...]
    attributes: Mapping[str, Attribute]
    value_ranges: tuple[ValueRange, ...]
    note: str = ""

    @property
    def key(self) -> str:
        """A name for the case that is unique in its suite, such as `exp/public/7`."""
        return f"{self.operator}/{self.split}/{self.case_id}"


def tensor_shapes(shape: InputShape) -> tuple[Shape, ...]:
    """The shapes of the tensors behind one input: none, one, or a list's."""
    if shape is None:
        return ()
    if shape and isinstance(shape[0], tuple):
        return tuple(entry for entry in shape if isinstance(entry, tuple))
    return (tuple(size for size in shape if isinstance(size, int)),)


def element_count(case: Case) -> int:
    """Elements over all input tensors of the case."""
    return sum(math.prod(shape) for entry in case.shapes for shape in tensor_shapes(entry))
