"""Ranges, dtypes and attributes of foreign cases."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from kernel_eval.model import Attribute, RangeKind, ValueRange
from kernel_eval.suite.imported.schema import Part
from kernel_eval.suite.imported.values import read_attribute, read_dtype, read_range, spread_dtypes, spread_ranges

FIGURES = Path("/work/shared/data/reference-figures.json")
UNIT = ValueRange(RangeKind.UNIFORM, -1, 1)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([-1, 1], [UNIT, UNIT]),
        (["-1", "1e0"], [UNIT, UNIT]),
        ([[-1, 1]], [UNIT, UNIT]),
        ([[[-1, 1]], [-1, 1]], [UNIT, UNIT]),
        ([[-1, 1], None], [UNIT, ValueRange(RangeKind.UNIFORM, 0, 1)]),
        ([None, [-1, 1]], [ValueRange(RangeKind.UNIFORM, 0, 1), UNIT]),
        (None, [ValueRange(RangeKind.UNIFORM, 0, 1)] * 2),
        ([3], [ValueRange(RangeKind.UNIFORM, 3, 3)] * 2),
        (3, [ValueRange(RangeKind.UNIFORM, 3, 3)] * 2),
        (["nan", "nan"], [ValueRange(RangeKind.NAN, -1, 1)] * 2),
        ([-math.inf, math.inf], [ValueRange(RangeKind.INF, -1, 1)] * 2),
        ([["-inf", "inf"], [0.1, "inf"]], [ValueRange(RangeKind.INF, -1, 1)] * 2),
    ],
)
def test_a_range_is_read_for_every_input(value: object, expected: list[ValueRange]) -> None:
    assert [read_range(entry, "float16") for entry in spread_ranges(value, 2)] == expected


def test_integers_without_a_range_go_up_to_a_hundred() -> None:
    assert read_range(None, "int32") == ValueRange(RangeKind.UNIFORM, 0, 100)


@pytest.mark.parametrize(
    ("value", "named"),
    [
        ([2, 1], "above its end"),
        (["nan", 1], "one end only"),
        ([1, 2, 3], "no range"),
        (["a", "b"], "no number"),
        ([True, False], "no number"),
        ({"low": 1}, "no number"),
    ],
)
def test_a_bad_range_is_named(value: object, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        read_range(value, "float32")


def test_more_ranges_or_dtypes_than_inputs_are_refused() -> None:
    with pytest.raises(ValueError, match="3 entries for 2"):
        spread_ranges([[0, 1]] * 3, 2)
    with pytest.raises(ValueError, match="3 entries for 2"):
        spread_dtypes(["float32"] * 3, 2)
    assert spread_dtypes("float32", 2) == spread_dtypes(["float32"], 2) == ["float32", "float32"]


@pytest.mark.parametrize(("value", "dtype"), [("fp16", "float16"), ("torch.bfloat16", "bfloat16"), ("INT8", "int8")])
def test_dtypes_have_other_spellings(value: str, dtype: str) -> None:
    assert read_dtype(value) == dtype


@pytest.mark.parametrize("value", ["int4", "complex64", 3, None, ["float32"]])
def test_an_unknown_dtype_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="unknown dtype"):
        read_dtype(value)


@pytest.mark.parametrize(
    ("value", "part", "expected"),
    [
        (1, Part("float", "a"), 1.0),
        ("inf", Part("float", "a"), math.inf),
        ("1e-6", Part("float", "a"), 1e-6),
        (2.0, Part("int", "a"), 2),
        ([1, 2], Part("int", "a", is_list=True), (1, 2)),
        (None, Part("int", "a", is_list=True, optional=True), None),
        ("None", Part("str", "a", optional=True), None),
        ([0.5, 2], Part("float", "a", is_list=True), (0.5, 2.0)),
        (True, Part("bool", "a"), True),
    ],
)
def test_an_attribute_becomes_the_schemas_type(value: object, part: Part, expected: Attribute) -> None:
    found = read_attribute(value, part)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("value", "part"),
    [
        (None, Part("float", "a")),
        (1.5, Part("int", "a")),
        (True, Part("int", "a")),
        (1 << 70, Part("int", "a")),
        ("yes", Part("bool", "a")),
        (3, Part("str", "a")),
        ([1, "x"], Part("int", "a", is_list=True)),
        (5, Part("int", "a", is_list=True)),
        ([0] * 65, Part("int", "a", is_list=True)),
    ],
)
def test_an_attribute_of_another_type_is_refused(value: object, part: Part) -> None:
    with pytest.raises(ValueError, match=r"no |is empty"):
        read_attribute(value, part)


@pytest.mark.skipif(not FIGURES.is_file(), reason="the published figures are not on this machine")
def test_every_published_range_and_dtype_is_understood() -> None:
    figures: dict[str, list[dict[str, Any]]] = json.loads(FIGURES.read_text())
    seen = 0
    for name, cases in figures.items():
        for case in cases:
            count = len(case["input_shapes"])
            for entry in spread_ranges(case["value_range"], count):
                assert read_range(entry, "float32").kind, name
            for entry in spread_dtypes(case["dtypes"], count):
                kept = entry[0] if isinstance(entry, list) else entry
                assert kept is None or read_dtype(kept), name
            seen += 1
    assert seen == 1060
