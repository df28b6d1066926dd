"""The declared shape space of an operator: from it cases are generated, against it they are validated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from kernel_eval.model import Attribute


class Category(StrEnum):
    """The seven categories of value ranges (`judging.md` section 2)."""

    SMALL = "symmetric_small"
    MEDIUM = "symmetric_medium"
    LARGE = "symmetric_large"
    ASYMMETRIC = "asymmetric"
    BOUNDARY = "boundary"
    SPECIAL = "special"
    ZERO = "zero"


@dataclass(frozen=True)
class AttributeSpace:
    """How one attribute is drawn.

    Either from `choices`, or evenly from `between` rounded to two decimals;
    `special` lists values that count as the special category. `axis` marks an
    attribute that names an axis, so that a choice must exist in the case's rank.
    """

    choices: tuple[Attribute, ...] = ()
    between: tuple[float, float] | None = None
    special: tuple[Attribute, ...] = ()
    axis: bool = False


@dataclass(frozen=True)
class InputSpace:
    """How the values of one input follow the case's category.

    Without `ranges` they follow it freely; `positive` keeps them away from
    zero, whatever the category; `ranges` are the only ranges it may have.
    """

    positive: bool = False
    ranges: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True)
class Override:
    """What a category draws differently, because the operator's contract demands it."""

    attributes: Mapping[str, AttributeSpace] = field(default_factory=dict)
    inputs: Mapping[str, InputSpace] = field(default_factory=dict)


@dataclass(frozen=True)
class CaseSpace:
    """The cases an operator can have.

    All inputs share one shape (or one list of shapes, of `list_lengths` entries).
    `ranks` are the ranks it may have, `dtypes` the combinations that rotate, one
    dtype per input. `halved_axis` names the attribute whose axis must be even.
    `largest` caps the magnitude of the symmetric large ranges. `exemptions` maps
    a coverage rule to the reason why this operator cannot meet it.
    """

    ranks: tuple[int, ...]
    dtypes: tuple[tuple[str, ...], ...]
    attributes: Mapping[str, AttributeSpace] = field(default_factory=dict)
    inputs: Mapping[str, InputSpace] = field(default_factory=dict)
    overrides: Mapping[Category, Override] = field(default_factory=dict)
    list_lengths: tuple[int, int] = (1, 1)
    halved_axis: str = ""
    largest: float = 1e5
    exemptions: Mapping[str, str] = field(default_factory=dict)

    def attribute(self, name: str, category: Category) -> AttributeSpace:
        """How `name` is drawn in a case of `category`."""
        override = self.overrides.get(category, Override())
        return override.attributes.get(name, self.attributes[name])

    def values(self, name: str, category: Category) -> InputSpace:
        """How the values of input `name` are drawn in a case of `category`."""
        override = self.overrides.get(category, Override())
        return override.inputs.get(name, self.inputs.get(name, InputSpace()))
