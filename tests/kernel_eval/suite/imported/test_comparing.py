"""What a foreign declaration says of comparison: it becomes rules of the judge, or a fault of the file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch

from kernel_eval.check import Called, judge_outputs
from kernel_eval.errors import SuiteInvalid
from kernel_eval.golden.call import Golden
from kernel_eval.model import Comparator, Comparison, IndexRule, Operator, Reduction, ResultSpec, TensorSpec
from kernel_eval.suite import load_suite
from kernel_eval.suite.imported.store import keep
from kernel_eval.suite.imported.task_tree import gather_task_tree
from tests.factories.foreign import write_operator

GATHER = {"input": "x", "dim_attr": "dim", "value_output": "y"}
CASES = json.dumps({"cases": [{"case_id": 1, "input_shape": [[2, 3]], "dtype": "float32", "attrs": {"dim": -1}}]})
GOLDEN = "def scale(x, dim, keepdim=False):\n    return x, x.long(), x.to(int)\n"
SCHEMA = "scale(Tensor x, int dim, bool keepdim=false) -> (Tensor y, Tensor at, Tensor q)"
FLOATS = ["float32", "float16"]


def declaration(at: object = GATHER, **changes: object) -> dict[str, Any]:
    """A proto whose second output holds indices and whose third is quantised."""
    outputs = [
        {"name": "y", "dtype": "same as x"},
        {"name": "at", "dtype": ["int64"], "compare": False, "index_gather": at},
        {"name": "q", "dtype": ["int8"]},
    ]
    inputs = [{"name": "x", "dtype": FLOATS}]
    return {"operator": {"name": "Scale", "schema": SCHEMA, "inputs": inputs, "outputs": outputs, **changes}}


def written(root: Path, proto: Mapping[str, object], golden: str = GOLDEN) -> Path:
    return write_operator(root, golden, json.dumps(proto), CASES)


def declared(root: Path, proto: Mapping[str, object]) -> Operator:
    (operator,) = gather_task_tree(written(root, proto)).operators
    return operator


def test_index_gather_becomes_a_rule_of_the_judge(tmp_path: Path) -> None:
    by_values = declared(tmp_path / "a", declaration()).outputs[1]
    assert (by_values.comparator, by_values.rule) == (Comparator.INDEX, IndexRule(into="x", axis="dim", values="y"))
    for said, reduction in (("amax", Reduction.MAX), ("amin", Reduction.MIN)):
        gather = {"input": "x", "value_reduce": said, "keepdim_attr": "keepdim"}
        found = declared(tmp_path / said, declaration(gather)).outputs[1].rule
        assert found == IndexRule(into="x", axis="dim", reduction=reduction)


def test_a_kept_suite_has_the_same_rules(tmp_path: Path) -> None:
    proto = declaration(precision_thresholds={"int8": 1.0, "float16": 0.01})
    suite = keep(gather_task_tree(written(tmp_path / "tree", proto)), tmp_path, "mine", "1", "now", replace=False)
    assert load_suite(tmp_path, "mine") == suite
    assert suite.operators[0].thresholds == {"int8": 1.0, "float16": 0.01}
    assert isinstance(suite.operators[0].outputs[1].rule, IndexRule)


@pytest.mark.parametrize("change", ['"table": "get_input"', '"comparator": "numeric"'])
def test_a_kept_suite_cannot_ask_its_golden_outside_the_box(tmp_path: Path, change: str) -> None:
    keep(gather_task_tree(written(tmp_path / "tree", declaration())), tmp_path, "mine", "1", "now", replace=False)
    path = tmp_path / "imported" / "mine" / "suite.json"
    key = change.partition(":")[0]
    old = {'"table"': '"table": ""', '"comparator"': '"comparator": "index"'}[key]
    path.write_text(path.read_text().replace(old, change, 1))
    if key == '"table"':
        (operator,) = load_suite(tmp_path, "mine").operators
        assert operator.outputs[1].rule == IndexRule(into="x", axis="dim", values="y")
    else:
        with pytest.raises(SuiteInvalid, match="indices has a rule"):
            load_suite(tmp_path, "mine")


def gather(**changes: object) -> dict[str, Any]:
    """A proto whose `index_gather` differs in some keys; None takes one away."""
    said = {**GATHER, **changes}
    return declaration({key: value for key, value in said.items() if value is not None})


def output(index: int, **changes: object) -> dict[str, Any]:
    proto = declaration()
    proto["operator"]["outputs"][index] |= changes
    return proto


def thresholds(**said: object) -> dict[str, Any]:
    return declaration(precision_thresholds=said)


WITH_LIST = declaration(
    schema=SCHEMA.replace("Tensor x", "Tensor x, Tensor[] xs, Tensor? extra"),
    inputs=[{"name": name, "dtype": FLOATS} for name in ("x", "xs", "extra")],
)
FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "no mapping": (declaration("x"), "outputs, at, index_gather: must be a mapping"),
    "no input": (gather(input=None), "needs input, and either value_output or value_reduce"),
    "neither values nor reduction": (gather(value_output=None), "needs input, and either"),
    "both": (gather(value_reduce="amax"), "needs input, and either"),
    "another reduction": (gather(value_output=None, value_reduce="sum"), "must be amax or amin, is 'sum'"),
    "a reduction that is no text": (gather(value_output=None, value_reduce=[1]), "must be amax or amin, is [1]"),
    "a name that is none": (gather(input=3), "index_gather, input: 3 is no name"),
    "an unknown key": (gather(distinct=True), "index_gather: unknown key 'distinct'"),
    "an input that is none": (gather(input="z"), "input 'z' is no input of a single tensor"),
    "an axis that is no attribute": (gather(dim_attr="axis"), "dim_attr 'axis' is no attribute of type int"),
    "an axis that is no int": (gather(dim_attr="keepdim"), "dim_attr 'keepdim' is no attribute of type int"),
    "values that are no output": (gather(value_output="z"), "value_output 'z' is no output"),
    "its own values": (gather(value_output="at"), "value_output 'at' is no output of a single tensor that is compared"),
    "values of another dtype": (gather(value_output="q"), "value_output q can't have the dtype of x"),
    "compared and pointed": (output(1, compare=True), "contradicts 'compare: true'"),
    "indices that are floats": (output(1, dtype="float32"), "indices are integers; declare such a dtype"),
    "indices of any dtype": (output(1, dtype=[]), "indices are integers; declare such a dtype"),
    "a fraction for integers": (thresholds(int8=0.5), "precision_thresholds, int8: 0.5 is no tolerance of integers"),
    "a negative one": (thresholds(int8=-1), "-1 is no tolerance of integers"),
    "one that is no number": (thresholds(int8="nan"), "nan is no tolerance of integers"),
    "a huge one": (thresholds(int8=129), "129 is no tolerance of integers"),
    "one of bool": (thresholds(bool=1), "precision_thresholds, bool: bool is compared exactly"),
    "one that no output has": (thresholds(int16=1), "no output that is compared by value can be int16"),
    "one of indices": (thresholds(int64=1), "no output that is compared by value can be int64"),
}


@pytest.mark.parametrize(("proto", "named"), FAULTS.values(), ids=FAULTS)
def test_what_cannot_be_mapped_is_a_fault_of_the_file(tmp_path: Path, proto: dict[str, Any], named: str) -> None:
    with pytest.raises(SuiteInvalid) as caught:
        gather_task_tree(written(tmp_path, proto))
    said = str(caught.value)
    assert named in said
    assert "scale/proto.yaml, " in said


@pytest.mark.parametrize("name", ["xs", "extra"])
def test_indices_point_into_one_tensor_that_is_always_there(tmp_path: Path, name: str) -> None:
    proto = json.loads(json.dumps(WITH_LIST))
    proto["operator"]["outputs"][1]["index_gather"]["input"] = name
    with pytest.raises(SuiteInvalid, match=f"input '{name}' is no input of a single tensor that is always given"):
        gather_task_tree(written(tmp_path, proto))


def test_a_get_output_beside_index_gather_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(SuiteInvalid, match="can't stand beside a get_output"):
        gather_task_tree(
            written(tmp_path, declaration(), GOLDEN + "\ndef get_output(y, at, q):\n    return y, at, q\n")
        )


def judged(operator: Operator, at: list[list[int]], q: torch.Tensor) -> Comparison:
    """A call on `[[2, 2, 1], [0, 3, 3]]` whose largest values are taken along the axis, beside a quantised output."""
    x = torch.tensor([[2.0, 2, 1], [0, 3, 3]])
    y = x.amax(1, keepdim=True)
    tensors = ((y,), (torch.tensor([[0], [1]]),), (torch.zeros(3000, dtype=torch.int8),))
    specs = tuple(
        ResultSpec(spec.name, (TensorSpec(str(one.dtype).removeprefix("torch."), tuple(one.shape)),))
        for spec, (one,) in zip(operator.outputs, tensors, strict=True)
    )
    called = Called(lambda: {"x": x}, {"dim": -1}, operator.folder)
    return judge_outputs(operator, Golden(tensors, specs), ((y,), (torch.tensor(at),), (q,)), lambda: tensors, called)


def test_ties_are_free_and_other_values_are_refused(tmp_path: Path) -> None:
    operator, q = declared(tmp_path, declaration()), torch.zeros(3000, dtype=torch.int8)
    for at in ([[0], [1]], [[1], [2]]):
        assert judged(operator, at, q).accepted
    assert judged(operator, [[2], [1]], q).rule == "index.value"
    assert judged(operator, [[0], [3]], q).rule == "index.range"
    assert judged(operator, [[0], [-1]], q).rule == "index.range"


def test_a_tolerance_of_integers_is_that_of_the_judge_with_its_cap(tmp_path: Path) -> None:
    operator = declared(tmp_path / "one", thresholds(int8=1.0))
    at = [[0], [1]]
    for differing, by, rule in ((3, 1, ""), (4, 1, "integers.mismatches"), (1, 2, "integers.tolerance")):
        q = torch.zeros(3000, dtype=torch.int8)
        q[:differing] = by
        found = judged(operator, at, q)
        assert (found.accepted, found.rule if rule else "") == (not rule, rule)
    assert (found.threshold, found.relaxed) == (1.0, True)
    q = torch.zeros(3000, dtype=torch.int8)
    q[0] = 1
    assert judged(declared(tmp_path / "none", declaration()), at, q).rule == "integers"
