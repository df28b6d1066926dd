"""`proto.yaml` to `Operator` and `CaseSpace`."""

from __future__ import annotations

import keyword
from pathlib import Path

import yaml

from kernel_eval.model import (
    DEFAULT_TOLERANCES,
    ITEM_BYTES,
    AttributeSpec,
    InputSpec,
    Level,
    Operator,
    OutputSpec,
)
from kernel_eval.suite.comparators import check_comparing, read_comparing, read_integer_tolerance
from kernel_eval.suite.faults import FaultList, Section
from kernel_eval.suite.space import CaseSpace
from kernel_eval.suite.space_reader import read_space

ATTRIBUTE_TYPES = ("int", "float", "str", "bool")
LARGEST_RELAXATION = 10.0
LARGEST_PROTO_BYTES = 1 << 20


def read_proto(folder: Path, where: str, faults: FaultList) -> tuple[Operator, CaseSpace] | None:
    """The operator declared in `folder/proto.yaml` and its shape space; None where it has faults."""
    path = folder / "proto.yaml"
    try:
        if path.stat().st_size > LARGEST_PROTO_BYTES:
            faults.add("proto.size", where, f"larger than {LARGEST_PROTO_BYTES >> 20} MiB")
            return None
        data = yaml.load(path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (OSError, UnicodeDecodeError) as error:
        faults.add("proto.unreadable", where, f"cannot be read: {error}")
        return None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        faults.add("proto.yaml", where, f"not readable as YAML: {' '.join(str(error).split())}")
        return None
    before = len(faults)
    section = Section(data, where, faults)
    operator = _operator(section, folder)
    space = read_space(section.section("cases"), operator)
    section.finish()
    return (operator, space) if len(faults) == before else None


def _operator(section: Section, folder: Path) -> Operator:
    thresholds, absolute = section.section("thresholds"), section.section("absolute_errors")
    operator = Operator(
        name=section.text("operator"),
        title=section.text("title"),
        function=section.text("function"),
        level=_level(section),
        category=section.text("category"),
        schema=section.text("schema"),
        inputs=tuple(_input(entry) for entry in section.sections("inputs")),
        attributes=tuple(_attribute(entry) for entry in section.sections("attributes")),
        outputs=tuple(_output(entry) for entry in section.sections("outputs")),
        folder=folder,
        thresholds={dtype: thresholds.number(dtype) for dtype in thresholds.names()},
        absolute_errors={dtype: absolute.number(dtype) for dtype in absolute.names()},
        threshold_reason=section.text("threshold_reason", ""),
        same_precision_relief=section.flag("same_precision_relief", False),
        in_place=section.flag("in_place", False),
        elementwise=section.flag("elementwise", False),
    )
    _check_names(section, operator)
    _check_outputs(section, operator)
    check_comparing(section, operator)
    _check_thresholds(section, operator)
    return operator


def _level(section: Section) -> Level:
    text = section.text("level")
    if text in list(Level):
        return Level(text)
    section.faults.add("proto.level", section.where, f"level must be one of {', '.join(Level)}, is {text!r:.40}")
    return Level.L1


def _input(section: Section) -> InputSpec:
    spec = InputSpec(
        name=section.text("name"),
        dtypes=section.texts("dtypes"),
        optional=section.flag("optional", False),
        tensor_list=section.flag("tensor_list", False),
    )
    for dtype in spec.dtypes:
        _check_dtype(section, dtype)
    section.finish()
    return spec


def _attribute(section: Section) -> AttributeSpec:
    spec = AttributeSpec(
        name=section.text("name"),
        type=section.text("type"),
        default=section.scalar("default"),
        allowed=section.scalars("allowed", ()),
    )
    if spec.type not in ATTRIBUTE_TYPES:
        section.faults.add("proto.attribute_type", section.where, f"type must be one of {', '.join(ATTRIBUTE_TYPES)}")
    section.finish()
    return spec


def _output(section: Section) -> OutputSpec:
    comparing = read_comparing(section)
    spec = OutputSpec(
        name=section.text("name"),
        dtype=section.text("dtype"),
        shape=section.text("shape"),
        tensor_list=section.flag("tensor_list", False),
        comparator=comparing.comparator,
        non_finite=section.flag("non_finite", True),
        rule=comparing.rule,
        integer_tolerance=read_integer_tolerance(section),
        signed_zero=section.flag("signed_zero", False),
        computed_as=section.text("computed_as", ""),
    )
    section.finish()
    return spec


def _check_dtype(section: Section, dtype: str) -> None:
    if dtype not in ITEM_BYTES:
        section.faults.add("proto.dtype", section.where, f"unknown dtype {dtype!r:.40}; known: {', '.join(ITEM_BYTES)}")


def _check_names(section: Section, operator: Operator) -> None:
    names = [spec.name for spec in operator.inputs] + [spec.name for spec in operator.attributes]
    for name in (operator.name, operator.function, *names):
        if not name.isidentifier() or keyword.iskeyword(name):
            section.faults.add("proto.name", section.where, f"{name!r:.40} must be a Python identifier")
    if len(set(names)) != len(names):
        section.faults.add("proto.duplicate_name", section.where, "inputs and attributes must have different names")
    if operator.name != operator.folder.name:
        section.faults.add(
            "proto.operator", section.where, f"operator must be the folder's name {operator.folder.name!r}"
        )
    if not operator.schema.startswith(f"{operator.function}("):
        section.faults.add("proto.schema", section.where, f"the schema must start with '{operator.function}('")
    for name in names:
        if name not in operator.schema:
            section.faults.add("proto.schema", section.where, f"the schema does not mention {name!r}")
    if not operator.inputs or not operator.outputs:
        section.faults.add("proto.empty", section.where, "an operator needs at least one input and one output")


def _check_outputs(section: Section, operator: Operator) -> None:
    inputs = {f"same as {spec.name}" for spec in operator.inputs}
    for spec in operator.outputs:
        if spec.dtype not in inputs and spec.dtype not in ITEM_BYTES:
            section.faults.add(
                "proto.output_dtype", section.where, f"{spec.name}: dtype must be a dtype or 'same as <input>'"
            )
        if spec.shape not in (*inputs, "scalar", "golden"):
            section.faults.add(
                "proto.output_shape",
                section.where,
                f"{spec.name}: shape must be 'same as <input>', 'scalar' or 'golden'",
            )
    lists = any([spec.tensor_list for spec in operator.inputs] + [spec.tensor_list for spec in operator.outputs])
    if operator.elementwise and (lists or any(spec.shape not in inputs for spec in operator.outputs)):
        message = "an elementwise operator takes no lists, and its outputs have the shape 'same as <input>'"
        section.faults.add("proto.elementwise", section.where, message)


def _check_thresholds(section: Section, operator: Operator) -> None:
    def fault(rule: str, message: str) -> None:
        section.faults.add(rule, section.where, message)

    explained = bool(operator.threshold_reason.strip())
    for dtype in (*operator.absolute_errors, *operator.thresholds):
        if dtype not in DEFAULT_TOLERANCES:
            known = ", ".join(DEFAULT_TOLERANCES)
            fault("proto.dtype", f"{dtype!r:.40} has no relative error; only {known}. Integers: integer_tolerance")
    for dtype, error in operator.absolute_errors.items():
        if not 0 < error < 1:
            fault("proto.absolute_error", f"{dtype}: an error lies between 0 and 1")
        if not explained:
            fault("proto.threshold_reason", "absolute_errors need threshold_reason")
    for dtype, threshold in operator.thresholds.items():
        if not 0 <= threshold < 1:
            fault("proto.threshold", f"{dtype}: a threshold lies between 0 and 1")
        default = DEFAULT_TOLERANCES.get(dtype)
        if default is not None and threshold > LARGEST_RELAXATION * default.mean and not explained:
            fault("proto.threshold_reason", f"{dtype}: more than 10 times the default needs threshold_reason")
