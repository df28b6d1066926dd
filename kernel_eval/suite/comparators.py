"""How the outputs of a `proto.yaml` are compared: reading the declaration, and what in it contradicts the rest."""

from __future__ import annotations

from dataclasses import dataclass

from kernel_eval.model import (
    CARRIERS,
    DEFAULT_TOLERANCES,
    Comparator,
    IndexRule,
    Operator,
    OutputSpec,
    Reduction,
    SetRule,
    StatefulRule,
)
from kernel_eval.suite.faults import Section

INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
UNEXPLAINED_TOLERANCE = 1
"""Integer tolerances above this need `threshold_reason`."""
LARGEST_TOLERANCE = (1 << 31) - 1
RULES = (Comparator.INDEX, Comparator.SET, Comparator.STATEFUL)
"""Comparators that have a mapping of their own, under their name."""


@dataclass(frozen=True)
class Comparing:
    """What an output declares of its comparison."""

    comparator: Comparator
    rule: IndexRule | SetRule | StatefulRule | None


def read_comparing(section: Section) -> Comparing:
    """The comparator of one output: at most one of `compare: false`, `index`, `set` and `stateful`."""
    declared = [comparator for comparator in RULES if comparator in section]
    compared = section.flag("compare", True)
    if len(declared) + (not compared) > 1:
        section.faults.add("proto.comparator", section.where, "only one of 'compare: false', index, set and stateful")
    rules = [_rule(comparator, section.section(comparator)) for comparator in declared]
    if rules:
        return Comparing(declared[0], rules[0])
    return Comparing(Comparator.NUMERIC if compared else Comparator.IGNORED, None)


def read_integer_tolerance(section: Section) -> int:
    """The largest difference of an integer output's elements; 0 where nothing is declared."""
    value = section.number("integer_tolerance", 0)
    if isinstance(value, int) and 0 <= value <= LARGEST_TOLERANCE:
        return value
    section.faults.add(
        "proto.integer_tolerance", section.where, f"must be a whole number from 0 to {LARGEST_TOLERANCE}, is {value}"
    )
    return 0


def check_comparing(section: Section, operator: Operator) -> None:
    """Name every output whose comparison contradicts the operator's other declarations."""
    for spec in operator.outputs:
        _check_tolerances(section, operator, spec)
        if isinstance(spec.rule, IndexRule):
            _check_index(section, operator, spec, spec.rule)
        elif isinstance(spec.rule, SetRule):
            _check_axis(section, operator, spec, spec.rule.axis)
        elif isinstance(spec.rule, StatefulRule):
            _check_stateful(section, operator, spec, spec.rule)


def dtypes_of(operator: Operator, spec: OutputSpec) -> tuple[str, ...]:
    """The dtypes that an output can have."""
    source = spec.dtype.removeprefix("same as ")
    for entry in operator.inputs if source != spec.dtype else ():
        if entry.name == source:
            return entry.dtypes
    return (spec.dtype,)


def _rule(comparator: Comparator, section: Section) -> IndexRule | SetRule | StatefulRule:
    rule: IndexRule | SetRule | StatefulRule
    if comparator is Comparator.INDEX:
        rule = IndexRule(
            into=section.text("into", ""),
            table=section.text("table", ""),
            axis=_axis(section),
            values=section.text("values", ""),
            reduction=_reduction(section),
            distinct=section.flag("distinct", False),
            up_to_position=section.flag("up_to_position", False),
        )
    elif comparator is Comparator.SET:
        rule = SetRule(_axis(section))
    else:
        rule = StatefulRule(of=section.text("of"), touched=section.text("touched", ""))
    section.finish()
    return rule


def _axis(section: Section) -> int | str | None:
    value = section.scalar("axis")
    if value is None or (isinstance(value, int | str) and not isinstance(value, bool)):
        return value
    section.faults.add("proto.axis", section.where, f"axis must be a number or an attribute's name, is {value!r:.40}")
    return None


def _reduction(section: Section) -> Reduction | None:
    text = section.text("reduction", "")
    if not text or text in list(Reduction):
        return Reduction(text) if text else None
    section.faults.add(
        "proto.reduction", section.where, f"reduction must be one of {', '.join(Reduction)}, is {text!r:.40}"
    )
    return None


def _check_tolerances(section: Section, operator: Operator, spec: OutputSpec) -> None:
    dtypes = dtypes_of(operator, spec)
    floats = [dtype for dtype in dtypes if dtype in DEFAULT_TOLERANCES]

    def fault(rule: str, message: str) -> None:
        section.faults.add(rule, section.where, f"{spec.name}: {message}")

    if spec.integer_tolerance and (isinstance(spec.rule, IndexRule) or not set(dtypes) & set(INTEGERS)):
        fault("proto.integer_tolerance", "an integer_tolerance is for outputs of quantised integers")
    if spec.integer_tolerance > UNEXPLAINED_TOLERANCE and not operator.threshold_reason.strip():
        fault("proto.threshold_reason", f"an integer_tolerance above {UNEXPLAINED_TOLERANCE} needs threshold_reason")
    if spec.signed_zero and (not floats or spec.comparator in (Comparator.INDEX, Comparator.SET)):
        fault("proto.signed_zero", "signed_zero is for float outputs, in their order")
    if spec.computed_as and spec.computed_as not in CARRIERS:
        fault("proto.computed_as", f"computed_as must be one of {', '.join(CARRIERS)}, is {spec.computed_as!r:.40}")
    elif spec.computed_as and CARRIERS[spec.computed_as] not in floats:
        fault("proto.computed_as", f"{spec.computed_as} is carried in {CARRIERS[spec.computed_as]}")


def _check_index(section: Section, operator: Operator, spec: OutputSpec, rule: IndexRule) -> None:
    def fault(message: str) -> None:
        section.faults.add("proto.index", section.where, f"{spec.name}: {message}")

    if not set(dtypes_of(operator, spec)) <= set(INTEGERS):
        fault("indices are integers")
    if spec.tensor_list:
        fault("a list of tensors can't be compared as indices")
    if bool(rule.into) == bool(rule.table):
        fault("needs either 'into', an input, or 'table', a function of golden.py")
    if bool(rule.values) == (rule.reduction is not None):
        fault("needs either 'values', an output, or 'reduction', min or max")
    if rule.table and not rule.table.isidentifier():
        fault(f"table {rule.table!r:.40} is no function's name")
    if rule.table and not rule.values:
        fault("what a table holds is compared with an output: 'values' is missing")
    _check_axis(section, operator, spec, rule.axis)
    if rule.into and not any(entry.name == rule.into and not entry.tensor_list for entry in operator.inputs):
        fault(f"into {rule.into!r:.40} is no input with a single tensor")
    elif rule.values:
        _check_values(section, operator, spec, rule)


def _check_values(section: Section, operator: Operator, spec: OutputSpec, rule: IndexRule) -> None:
    def fault(message: str) -> None:
        section.faults.add("proto.index", section.where, f"{spec.name}: values {rule.values!r:.40} {message}")

    values = next((entry for entry in operator.outputs if entry.name == rule.values), None)
    if values is None or values.tensor_list or values.comparator is not Comparator.NUMERIC:
        fault("is no output with a single tensor that is compared by value, in its order")
    elif rule.table and not set(dtypes_of(operator, values)) <= set(DEFAULT_TOLERANCES):
        fault("must be a float beside a table")
    elif rule.into and values.dtype != f"same as {rule.into}":
        fault(f"must have the dtype 'same as {rule.into}'")


def _check_stateful(section: Section, operator: Operator, spec: OutputSpec, rule: StatefulRule) -> None:
    def fault(message: str) -> None:
        section.faults.add("proto.stateful", section.where, f"{spec.name}: {message}")

    source = next((entry for entry in operator.inputs if entry.name == rule.of), None)
    if source is None:
        fault(f"of {rule.of!r:.40} is no input")
        return
    if (spec.dtype, spec.shape) != (f"same as {rule.of}",) * 2 or spec.tensor_list != source.tensor_list:
        fault(f"dtype and shape must be 'same as {rule.of}', and both tensors or both lists")
    if rule.touched and (spec.tensor_list or not rule.touched.isidentifier()):
        fault(f"touched {rule.touched!r:.40} must name a function of golden.py, for a single tensor")


def _check_axis(section: Section, operator: Operator, spec: OutputSpec, axis: int | str | None) -> None:
    if not isinstance(axis, str):
        return
    if not any(entry.name == axis and entry.type == "int" for entry in operator.attributes):
        section.faults.add("proto.axis", section.where, f"{spec.name}: axis {axis!r:.40} is no attribute of type int")
