"""`suite.json`: an imported suite as it is kept."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kernel_eval.model import (
    AttributeSpec,
    Case,
    Comparator,
    Foreign,
    IndexRule,
    InputShape,
    InputSpec,
    Level,
    Operator,
    OutputSpec,
    RangeKind,
    Reduction,
    Split,
    ValueRange,
)
from kernel_eval.suite.imported.gathered import Gathered, folder_of

FORMAT = 1
_SPECIAL = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def encode(gathered: Gathered, name: str, version: str) -> bytes:
    """The suite as JSON; the same suite gives the same bytes."""
    document = {
        "format": FORMAT,
        "name": name,
        "version": version,
        "source": str(gathered.format),
        "operators": [_operator_out(operator) for operator in gathered.operators],
        "cases": [_case_out(case) for case in gathered.cases],
        "times": {
            hardware: {key: [one.baseline_us, one.limit_us] for key, one in times.items()}
            for hardware, times in gathered.times.items()
        },
    }
    return (json.dumps(document, indent=1, sort_keys=True, allow_nan=False) + "\n").encode()


def decode_operators(document: Mapping[str, Any], root: Path) -> tuple[Operator, ...]:
    """The operators of a kept suite in the folder `root`. Raises `ValueError`, `KeyError` or `TypeError`."""
    return tuple(_operator_in(entry, root) for entry in document["operators"])


def decode_cases(document: Mapping[str, Any]) -> tuple[Case, ...]:
    """The cases of a kept suite. Raises like `decode_operators`."""
    return tuple(_case_in(entry) for entry in document["cases"])


def _operator_out(operator: Operator) -> dict[str, Any]:
    plain = asdict(operator)
    del plain["folder"]
    return plain


def _operator_in(entry: dict[str, Any], root: Path) -> Operator:
    values = {
        **entry,
        "level": Level(entry["level"]),
        "inputs": tuple(InputSpec(**{**one, "dtypes": tuple(one["dtypes"])}) for one in entry["inputs"]),
        "attributes": tuple(AttributeSpec(**{**one, "allowed": tuple(one["allowed"])}) for one in entry["attributes"]),
        "outputs": tuple(_output_in(one) for one in entry["outputs"]),
        "foreign": Foreign(**entry["foreign"]),
        "folder": root,
    }
    operator = Operator(**values)
    if not operator.name.isidentifier() or not operator.function.isidentifier():
        raise ValueError(f"{operator.name!r:.40} is no operator's name")
    return Operator(**{**values, "folder": root / folder_of(operator)})


def _output_in(entry: dict[str, Any]) -> OutputSpec:
    comparator = Comparator(entry["comparator"])
    values = {
        **entry,
        "comparator": comparator,
        "dtypes": tuple(entry.get("dtypes", ())),
        "rule": _rule_in(entry.get("rule"), comparator),
    }
    return OutputSpec(**values)


def _rule_in(entry: dict[str, Any] | None, comparator: Comparator) -> IndexRule | None:
    """The rule of an index output. No imported suite names a function of its golden here, since none is asked."""
    if (entry is None) == (comparator is Comparator.INDEX):
        raise ValueError("an output of indices has a rule, others have none")
    if entry is None:
        return None
    reduction = entry["reduction"] and Reduction(entry["reduction"])
    return IndexRule(
        into=str(entry["into"]), axis=str(entry["axis"]), values=str(entry["values"]), reduction=reduction or None
    )


def _case_out(case: Case) -> dict[str, Any]:
    return {
        "operator": case.operator,
        "case_id": case.case_id,
        "shapes": case.shapes,
        "dtypes": case.dtypes,
        "attributes": {name: _plain(value) for name, value in case.attributes.items()},
        "values": [[str(one.kind), one.low, one.high] for one in case.value_ranges],
        "note": case.note,
    }


def _case_in(entry: dict[str, Any]) -> Case:
    return Case(
        operator=str(entry["operator"]),
        case_id=int(entry["case_id"]),
        split=Split.PUBLIC,
        shapes=tuple(_shape_in(shape) for shape in entry["shapes"]),
        dtypes=tuple(map(str, entry["dtypes"])),
        attributes={str(name): _value(value) for name, value in entry["attributes"].items()},
        value_ranges=tuple(ValueRange(RangeKind(kind), float(low), float(high)) for kind, low, high in entry["values"]),
        note=str(entry["note"]),
    )


def _shape_in(value: Any) -> InputShape:
    if value is None:
        return None
    if value and isinstance(value[0], list):
        return tuple(tuple(int(size) for size in shape) for shape in value)
    return tuple(int(size) for size in value)


def _plain(value: Any) -> Any:
    """Non-finite floats are written as a mapping, so that they stay apart from texts."""
    if isinstance(value, tuple):
        return [_plain(entry) for entry in value]
    return {"float": str(value)} if isinstance(value, float) and not math.isfinite(value) else value


def _value(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_value(entry) for entry in value)
    return _SPECIAL[value["float"]] if isinstance(value, dict) else value
