"""The `cases` section of `proto.yaml` to a `CaseSpace`."""

from __future__ import annotations

import math

from kernel_eval.model import Attribute, Operator
from kernel_eval.suite.faults import FaultList, Section
from kernel_eval.suite.space import AttributeSpace, CaseSpace, Category, InputSpace, Override
from kernel_eval.suite.values import read_attribute

RULES = (
    "element_count",
    "attributes",
    "value_range",
    "ranks",
    "symmetric_small",
    "boundary",
    "special",
    "zero",
    "alignment",
)
"""Coverage rules that an operator can be exempted from, with a reason."""


def read_space(section: Section, operator: Operator) -> CaseSpace:
    """The declared shape space. Faults go into the section's list; the result is then unusable."""
    ranks = tuple(rank for rank in section.items("ranks", [1]) if isinstance(rank, int) and 0 <= rank <= 8)
    lengths = tuple(length for length in section.items("list_lengths", [1, 1]) if isinstance(length, int))
    space = CaseSpace(
        ranks=ranks,
        dtypes=_dtypes(section, operator),
        attributes=_attributes(section.section("attributes"), operator),
        inputs=_inputs(section.section("values"), operator),
        overrides=_overrides(section.section("overrides"), operator),
        list_lengths=(lengths[0], lengths[-1]) if lengths else (1, 1),
        halved_axis=section.text("halved_axis", ""),
        largest=float(section.number("largest", 1e5)),
        exemptions=_exemptions(section.section("exemptions")),
    )
    _check(section, space, operator)
    section.finish()
    return space


def _dtypes(section: Section, operator: Operator) -> tuple[tuple[str, ...], ...]:
    """Combinations of dtypes; a single name stands for all inputs."""
    combinations = []
    for entry in section.items("dtypes"):
        names = [entry] * len(operator.inputs) if isinstance(entry, str) else entry
        if not isinstance(names, list) or len(names) != len(operator.inputs):
            section.faults.add("space.dtypes", section.where, "each entry is one dtype, or a list of one per input")
            continue
        for spec, name in zip(operator.inputs, names, strict=True):
            if name not in spec.dtypes:
                section.faults.add("space.dtypes", section.where, f"input {spec.name!r} does not take {name!r:.40}")
        combinations.append(tuple(str(name) for name in names))
    return tuple(combinations)


def _attributes(section: Section, operator: Operator) -> dict[str, AttributeSpace]:
    types = {spec.name: spec.type for spec in operator.attributes}
    spaces = {}
    for name in section.names():
        entry = section.section(name)
        if name not in types:
            section.faults.add("space.attributes", section.where, f"the operator has no attribute {name!r}")
            continue
        between = entry.items("between", [])
        spaces[name] = AttributeSpace(
            choices=_values(entry, "choose", types[name]),
            between=_pair(between) if between else None,
            special=_values(entry, "special", types[name]),
            axis=entry.flag("axis", False),
        )
        if bool(spaces[name].choices) == bool(between) or (between and spaces[name].between is None):
            entry.faults.add("space.attributes", entry.where, "needs either choose (a list) or between (low, high)")
        entry.finish()
    return spaces


def _values(section: Section, key: str, type_name: str) -> tuple[Attribute, ...]:
    values: list[Attribute] = []
    for value in section.scalars(key, ()):
        try:
            values.append(read_attribute(str(value) if _special(value) else value, type_name))
        except ValueError as error:
            section.faults.add("space.attributes", f"{section.where}.{key}", str(error))
    return tuple(values)


def _special(value: Attribute) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def _inputs(section: Section, operator: Operator) -> dict[str, InputSpace]:
    names = {spec.name for spec in operator.inputs}
    spaces = {}
    for name in section.names():
        entry = section.section(name)
        if name not in names:
            section.faults.add("space.values", section.where, f"the operator has no input {name!r}")
        pairs = [_pair(value) for value in entry.items("ranges", [])]
        if None in pairs:
            entry.faults.add("space.values", entry.where, "each range is [low, high] with low ≤ high")
        spaces[name] = InputSpace(
            positive=entry.flag("positive", False),
            ranges=tuple(pair for pair in pairs if pair is not None),
        )
        entry.finish()
    return spaces


def _overrides(section: Section, operator: Operator) -> dict[Category, Override]:
    overrides = {}
    for name in section.names():
        entry = section.section(name)
        if name not in list(Category):
            section.faults.add(
                "space.overrides", section.where, f"{name!r} is no category; one of {', '.join(Category)}"
            )
            continue
        overrides[Category(name)] = Override(
            attributes=_attributes(entry.section("attributes"), operator),
            inputs=_inputs(entry.section("values"), operator),
        )
        entry.finish()
    return overrides


def _exemptions(section: Section) -> dict[str, str]:
    reasons = {}
    for name in section.names():
        reasons[name] = section.text(name)
        if name not in RULES:
            section.faults.add("space.exemptions", section.where, f"{name!r} is no rule; one of {', '.join(RULES)}")
        if len(reasons[name]) < 10:
            section.faults.add("space.exemptions", section.where, f"{name!r} needs a reason in words")
    return reasons


def _pair(value: object) -> tuple[float, float] | None:
    if not isinstance(value, list | tuple) or len(value) != 2:
        return None
    low, high = value
    if not (
        isinstance(low, int | float) and isinstance(high, int | float) and low <= high and math.isfinite(high - low)
    ):
        return None
    return float(low), float(high)


def _check(section: Section, space: CaseSpace, operator: Operator) -> None:
    faults: FaultList = section.faults
    if not space.ranks:
        faults.add("space.ranks", section.where, "needs at least one rank from 0 to 8")
    if not space.dtypes:
        faults.add("space.dtypes", section.where, "needs at least one combination of dtypes")
    if not 1 <= space.list_lengths[0] <= space.list_lengths[1]:
        faults.add("space.list_lengths", section.where, "must be [shortest, longest] with 1 ≤ shortest ≤ longest")
    for spec in operator.attributes:
        if spec.name not in space.attributes:
            faults.add("space.attributes", section.where, f"does not say how {spec.name!r} is drawn")
    if space.halved_axis and space.halved_axis not in space.attributes:
        faults.add("space.halved_axis", section.where, f"{space.halved_axis!r} is no attribute")
