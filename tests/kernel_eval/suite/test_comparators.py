"""How outputs are compared, as `proto.yaml` declares it: read into rules, contradictions named all at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernel_eval.errors import SuiteInvalid
from kernel_eval.model import Comparator, IndexRule, Operator, Reduction, SetRule, StatefulRule
from kernel_eval.suite import load_suite
from tests.factories.tasks import PROTO, write_suite

OUTPUT = "  - {name: y, dtype: same as x, shape: same as x}\n"
AXIS = "  - {name: dim, type: int, default: -1}\n"
BASE = (
    PROTO.replace("float factor=2.0)", "float factor=2.0, int dim=-1)")
    .replace("outputs:\n", AXIS + "outputs:\n")
    .replace("[1.0, 3.0]}\n", "[1.0, 3.0]}\n    dim: {choose: [-1]}\n")
)


def declared(*outputs: str, more: str = "") -> str:
    """A proto with these outputs, each a flow mapping without braces."""
    return BASE.replace(OUTPUT, "".join(f"  - {{{output}}}\n" for output in outputs)) + more


def operator(root: Path, *outputs: str, more: str = "") -> Operator:
    return load_suite(write_suite(root, proto=declared(*outputs, more=more)), "tiny").operator("double")


Y = "name: y, dtype: same as x, shape: same as x"
I64 = "name: i, dtype: int64, shape: same as x"
Q8 = "name: q, dtype: int8, shape: same as x"


def test_every_comparator_is_read(tmp_path: Path) -> None:
    found = operator(
        tmp_path,
        Y,
        f"{I64}, index: {{into: x, axis: dim, values: y, distinct: true}}",
        "name: a, dtype: int32, shape: golden, index: {into: x, axis: 0, reduction: max}",
        "name: p, dtype: int32, shape: golden, index: {table: odds, axis: -1, values: y, up_to_position: true}",
        "name: s, dtype: same as x, shape: same as x, set: {}",
        "name: t, dtype: same as x, shape: same as x, set: {axis: dim}",
        f"{Y.replace('name: y', 'name: c')}, stateful: {{of: x, touched: touched}}",
        f"{Q8}, integer_tolerance: 1",
        f"{Y.replace('name: y', 'name: z')}, signed_zero: true, computed_as: hifloat32",
        f"{Y.replace('name: y', 'name: w')}, compare: false",
    ).outputs
    assert [spec.rule for spec in found] == [
        None,
        IndexRule(into="x", axis="dim", values="y", distinct=True),
        IndexRule(into="x", axis=0, reduction=Reduction.MAX),
        IndexRule(table="odds", axis=-1, values="y", up_to_position=True),
        SetRule(),
        SetRule("dim"),
        StatefulRule("x", "touched"),
        None,
        None,
        None,
    ]
    kinds = [Comparator.NUMERIC] + [Comparator.INDEX] * 3 + [Comparator.SET] * 2
    kinds += [Comparator.STATEFUL, Comparator.NUMERIC, Comparator.NUMERIC, Comparator.IGNORED]
    assert [spec.comparator for spec in found] == kinds
    assert (found[7].integer_tolerance, found[8].signed_zero, found[8].computed_as) == (1, True, "hifloat32")


def index(text: str) -> str:
    return f"{I64}, index: {{{text}}}"


BAD_OUTPUTS = [
    # output, rule, a word of the message
    (f"{Y}, compare: false, set: {{}}", "proto.comparator", "only one"),
    (index("into: x, values: y") + ", stateful: {of: x}", "proto.comparator", "only one"),
    (index("values: y"), "proto.index", "either 'into'"),
    (index("into: x, table: odds, values: y"), "proto.index", "either 'into'"),
    (index("into: x"), "proto.index", "either 'values'"),
    (index("into: x, values: y, reduction: max"), "proto.index", "either 'values'"),
    (index("into: x, reduction: mean"), "proto.reduction", "min"),
    (index("table: odds, reduction: max"), "proto.index", "'values' is missing"),
    (index("table: 2odds, values: y"), "proto.index", "no function's name"),
    (index("into: z, values: y"), "proto.index", "is no input"),
    (index("into: x, values: z"), "proto.index", "is no output"),
    (index("into: x, values: i"), "proto.index", "is no output"),
    (index("into: x, values: y, axis: factor"), "proto.axis", "no attribute of type int"),
    (index("into: x, values: y, axis: 1.5"), "proto.axis", "must be a number or"),
    (index("into: x, values: y, axis: true"), "proto.axis", "must be a number or"),
    (index("into: x, values: y, colour: red"), "declaration.unknown_key", "colour"),
    (index("into: x, values: y").replace("int64", "same as x"), "proto.index", "integers"),
    (index("into: x, values: y").replace("int64", "int64, tensor_list: true"), "proto.index", "list"),
    (index("into: x, values: y") + ", integer_tolerance: 1", "proto.integer_tolerance", "quantised"),
    (f"{Y.replace('name: y', 'name: s')}, set: {{axis: depth}}", "proto.axis", "no attribute"),
    (f"{Y.replace('name: y', 'name: s')}, set: 3", "declaration.mapping", "mapping"),
    (f"{Q8}, stateful: {{of: x}}", "proto.stateful", "'same as x'"),
    ("name: c, dtype: same as x, shape: golden, stateful: {of: x}", "proto.stateful", "'same as x'"),
    (f"{Y.replace('name: y', 'name: c')}, stateful: {{of: z}}", "proto.stateful", "no input"),
    (f"{Y.replace('name: y', 'name: c')}, stateful: {{}}", "declaration.missing_key", "of"),
    (f"{Y.replace('name: y', 'name: c')}, stateful: {{of: x, touched: a b}}", "proto.stateful", "function"),
    (f"{Q8}, integer_tolerance: -1", "proto.integer_tolerance", "whole number"),
    (f"{Q8}, integer_tolerance: 0.5", "proto.integer_tolerance", "whole number"),
    (f"{Q8}, integer_tolerance: 99999999999", "proto.integer_tolerance", "whole number"),
    (f"{Q8}, integer_tolerance: 2", "proto.threshold_reason", "above 1"),
    (f"{Y}, integer_tolerance: 1", "proto.integer_tolerance", "quantised"),
    (f"{Q8}, signed_zero: true", "proto.signed_zero", "float"),
    (f"{Y}, signed_zero: true, set: {{}}", "proto.signed_zero", "order"),
    (f"{Y}, computed_as: float4", "proto.computed_as", "hifloat32"),
    (f"{Q8}, computed_as: hifloat32", "proto.computed_as", "carried in float32"),
]


@pytest.mark.parametrize(("output", "rule", "said"), BAD_OUTPUTS)
def test_a_contradiction_is_named(tmp_path: Path, output: str, rule: str, said: str) -> None:
    outputs = (output,) if output.startswith("name: y") else (Y, output)
    with pytest.raises(SuiteInvalid) as caught:
        operator(tmp_path, *outputs)
    assert any(fault.rule == rule and said in fault.message for fault in caught.value.faults), str(caught.value)


def test_contradictions_of_several_outputs_are_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(SuiteInvalid) as caught:
        operator(tmp_path, *(output for output, _, _ in BAD_OUTPUTS[2:]))
    assert {rule for _, rule, _ in BAD_OUTPUTS[2:]} <= {fault.rule for fault in caught.value.faults}


@pytest.mark.parametrize(
    ("more", "rule"),
    [
        ("thresholds: {float8_e5m2: 0.9}\n", None),
        ("thresholds: {hifloat32: 0.01}\n", "proto.threshold_reason"),
        ("thresholds: {hifloat32: 0.01}\nthreshold_reason: '  '\n", "proto.threshold_reason"),
        ("thresholds: {hifloat32: 0.01}\nthreshold_reason: long sums\n", None),
        ("thresholds: {float32: 0.00122}\n", None),
        ("thresholds: {float32: 0.00123}\n", "proto.threshold_reason"),
        ("thresholds: {int8: 0.5}\n", "proto.dtype"),
        ("thresholds: {float64: 0.5}\n", "proto.dtype"),
        ("thresholds: {float32: .nan}\nthreshold_reason: none\n", "proto.threshold"),
    ],
)
def test_more_than_ten_times_the_default_needs_a_written_reason(tmp_path: Path, more: str, rule: str | None) -> None:
    if rule is None:
        assert operator(tmp_path, Y, more=more).thresholds
        return
    with pytest.raises(SuiteInvalid) as caught:
        operator(tmp_path, Y, more=more)
    assert rule in {fault.rule for fault in caught.value.faults}


def test_a_large_integer_tolerance_may_be_explained(tmp_path: Path) -> None:
    found = operator(tmp_path, f"{Q8}, integer_tolerance: 3", more="threshold_reason: two roundings\n")
    assert found.outputs[0].integer_tolerance == 3
