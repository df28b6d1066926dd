"""A task tree becomes a suite: operators, cases, defaults, times. Nothing of it is executed."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
import yaml

from kernel_eval.cli import main
from kernel_eval.model import Bottleneck, Comparator, Foreign, Provenance, RangeKind
from kernel_eval.suite import load_suite
from kernel_eval.suite.anchors import load_anchors
from kernel_eval.suite.imported.schema import parse_schema
from kernel_eval.suite.imported.task_tree import gather_task_tree
from tests.factories.foreign import (
    PICK_CASES,
    SCALE_GOLDEN,
    SCALE_PROTO,
    write_operator,
    write_task_tree,
)
from tests.factories.imported_trees import imported

FACTS = Path("/work/shared")
KEYS = ("operator", "case_id", "input_shapes", "dtypes", "attrs", "value_range")


def test_operators_cases_hooks_thresholds_and_times_become_a_suite(tmp_path: Path) -> None:
    suite = imported(write_task_tree(tmp_path / "tree"), tmp_path / "home")
    assert load_suite(tmp_path / "home", "mine") == suite
    assert [operator.name for operator in suite.operators] == ["scale", "pick_rows", "sum_lists"]
    scale, pick, lists = suite.operators
    assert scale.foreign == Foreign("scale")
    assert pick.foreign == Foreign("pick_rows", oracle="pick_rows_oracle", inputs=True)
    assert lists.foreign == Foreign("sum_lists", outputs=True)
    assert (scale.title, scale.function, scale.thresholds) == ("Scale", "scale", {"float32": 0.001})
    assert [(spec.name, spec.optional) for spec in pick.inputs] == [("x", False), ("index", False), ("bias", True)]
    assert [spec.comparator for spec in pick.outputs] == [Comparator.NUMERIC, Comparator.IGNORED]
    assert (lists.inputs[0].tensor_list, lists.outputs[0].tensor_list) == (True, True)


def test_cases_are_read_from_yaml_and_from_csv(tmp_path: Path) -> None:
    suite = imported(write_task_tree(tmp_path / "tree"), tmp_path / "home")
    first, second, third = suite.cases_of("scale")
    assert (first.shapes, first.dtypes, first.attributes) == (((3, 5),), ("float32",), {"factor": 1.5, "dims": None})
    assert second.attributes["factor"] == math.inf
    assert third.attributes == {"factor": 2.0, "dims": None}
    assert third.value_ranges[0].kind is RangeKind.NAN
    without, whole = suite.cases_of("pick_rows")
    assert (without.shapes, without.dtypes[:2]) == (((6, 4), (3,), None), ("float32", "int64"))
    assert (whole.shapes, whole.attributes, whole.note) == (((5, 2), (4,), (2,)), {"largest": False}, "")
    assert suite.cases_of("sum_lists")[0].shapes == (((3, 4), (5,)),)


def test_baselines_per_hardware_and_as_one_number_are_understood(tmp_path: Path) -> None:
    suite = imported(write_task_tree(tmp_path / "tree"), tmp_path / "home")
    folder = tmp_path / "home" / "imported" / "mine" / "anchors"
    anchors = load_anchors(folder / "910b2.json")
    assert (anchors.hardware, anchors.suite_digest) == ("910b2", suite.digest)
    one, derived = anchors.anchors["scale/public/1"], anchors.anchors["scale/public/2"]
    assert (one.baseline_us, one.limit.limit_us, one.provenance) == (40.2, 1.09, Provenance.MEASURED)
    assert (derived.baseline_us, derived.provenance) == (20.0, Provenance.DERIVED)
    assert one.limit.bottleneck is Bottleneck.UNKNOWN
    assert anchors.anchors["pick_rows/public/1"].baseline_us == 40.2
    document = json.loads((folder.parent / "suite.json").read_text())
    assert document["times"]["910b1"] == {"pick_rows/public/1": [45.1, None]}


def test_times_may_stand_in_the_cases(tmp_path: Path) -> None:
    row = "{case_id: 1, input_shape: [[3]], dtype: float32, %s}"
    cases = "cases:\n  - " + row % "baseline_perf_us: {910b2: 40.2, 910b1: 45.1}, t_hw_us: 4"
    gathered = gather_task_tree(write_operator(tmp_path, SCALE_GOLDEN, cases=cases))
    found = {hardware: one["scale/public/1"].baseline_us for hardware, one in gathered.times.items()}
    assert found == {"910b2": 40.2, "910b1": 45.1, "any": None}
    again = gather_task_tree(
        write_operator(tmp_path / "n", SCALE_GOLDEN, cases=cases.replace("{910b2: 40.2, 910b1: 45.1}", "7"))
    )
    assert again.times["any"]["scale/public/1"].baseline_us == 7


def test_a_value_that_a_case_leaves_out_comes_from_schema_declaration_or_golden(tmp_path: Path) -> None:
    schema = "scale(Tensor x, float factor=2.0, int kind, int[] dims, str mode) -> Tensor y"
    proto_text = SCALE_PROTO.replace("scale(Tensor x, float factor=2.0, int[]? dims=None) -> Tensor y", schema)
    proto_text = proto_text.replace("  attrs:\n", "  attrs:\n    - {name: kind, type: int, default: 7}\n")
    golden = "def scale(x, factor=9.0, kind=8, dims=(1, 2), *, mode='a'):\n    return x\n"
    cases_text = "cases: [{case_id: 1, input_shape: [[3]], dtype: float32}]"
    (case,) = gather_task_tree(write_operator(tmp_path, golden, proto_text, cases_text)).cases
    assert case.attributes == {"factor": 2.0, "kind": 7, "dims": (1, 2), "mode": "a"}


def test_a_tensor_that_is_declared_as_an_attribute_is_a_list_in_the_cases(tmp_path: Path) -> None:
    proto_text = SCALE_PROTO.replace("int[]? dims=None", "Tensor groups").replace(
        "  attrs:\n", "  attrs:\n    - {name: groups}\n"
    )
    cases_text = "cases: [{case_id: 1, input_shape: [[3]], dtype: float32, attrs: {groups: [1, 3]}}]"
    gathered = gather_task_tree(
        write_operator(tmp_path, SCALE_GOLDEN.replace("dims=", "groups="), proto_text, cases_text)
    )
    assert gathered.cases[0].attributes == {"factor": 2.0, "groups": (1, 3)}
    assert gathered.operators[0].schema == "scale(Tensor x, float factor=2.0, int[] groups) -> Tensor y"


def test_the_dtype_of_an_omitted_input_does_not_matter(tmp_path: Path) -> None:
    root = write_task_tree(tmp_path)
    text = PICK_CASES.replace("['float32', 'int64', None]", "['float32', 'int64', 'int8']")
    (root / "level2/pick_rows/cases.csv").write_text(text)
    assert next(case for case in gather_task_tree(root).cases if case.operator == "pick_rows").dtypes[2] == "float32"


@pytest.mark.skipif(not FACTS.is_dir(), reason="facts of the published task set are not on this machine")
def test_every_published_operator_and_case_is_understood(tmp_path: Path) -> None:
    write_published(tmp_path)
    gathered = gather_task_tree(tmp_path)
    assert (len(gathered.operators), len(gathered.cases)) == (53, 1060)
    assert len(gathered.times["910b2"]) == len(gathered.times["950pr"]) == 1060
    compared = {operator.name: [spec.comparator for spec in operator.outputs] for operator in gathered.operators}
    assert {name for name, found in compared.items() if Comparator.INDEX in found} == {"arg_max", "cummin", "top_k"}
    tolerant = {operator.name for operator in gathered.operators if operator.thresholds.get("int8")}
    assert tolerant == {
        "dynamic_quant", "add_rms_norm_dynamic_quant", "dequant_swiglu_quant", "grouped_matmul_swiglu_quant",
    }  # fmt: skip


def published_output(entry: dict[str, Any]) -> dict[str, Any]:
    """An output's entry in a proto, with how it is compared."""
    declared = {"name": entry["name"], "dtype": entry["declared_dtypes"]}
    if entry.get("elementwise_compare") is False:
        declared["compare"] = False
    return declared | ({"index_gather": entry["index_gather_check"]} if "index_gather_check" in entry else {})


def write_published(root: Path) -> None:
    """The published schemas and cases as a tree, with goldens that do nothing."""
    figures = json.loads((FACTS / "data" / "reference-figures.json").read_text())
    times: dict[str, dict[str, Any]] = {"910b2": {}, "950pr": {}}
    for entry in yaml.safe_load((FACTS / "facts" / "operators.yaml").read_text())["operators"]:
        function, level = entry["function"], f"level{entry['level'][1:]}"
        folder = root / level / function
        folder.mkdir(parents=True)
        inputs = [{"name": one["name"], "dtype": one["dtypes"]} for one in entry["inputs"]]
        attributes = [{"name": one["name"]} for one in entry["attrs"]]
        declared = {"name": entry["name"], "schema": entry["schema"], "inputs": inputs, "attrs": attributes}
        declared["outputs"] = [published_output(one) for one in entry["outputs"]]
        declared["precision_thresholds"] = entry["precision"].get("override", {})
        (folder / "proto.yaml").write_text(json.dumps({"operator": declared}))
        rows = [{**row, "operator": entry["name"]} for row in figures[function]]
        (folder / "cases.yaml").write_text(
            json.dumps({"cases": [{k: row[k] for k in KEYS if k in row} for row in rows]})
        )
        names = [part.name for part in parse_schema(entry["schema"]).arguments]
        given = ", ".join(f"{name}=0" if name.endswith("_mask") else f"{name}=None" for name in names)
        (folder / "golden.py").write_text(f"def {function}({given}):\n    return None\n")
        for hardware, known in times.items():
            for row in rows:
                pair = {key: row[f"{key.replace('_perf', '')}_{hardware}"] for key in ("baseline_perf_us", "t_hw_us")}
                known.setdefault(level, {}).setdefault(function, {})[str(row["case_id"])] = pair
    (root / "metadata").mkdir()
    for hardware, known in times.items():
        (root / "metadata" / f"{hardware}.json").write_text(json.dumps(known))


def test_a_golden_is_looked_at_but_never_executed(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    golden = f"open({str(trace)!r}, 'w').write('x')\nimport nothing_of_this_name\n" + SCALE_GOLDEN
    suite = imported(write_operator(tmp_path / "tree", golden), tmp_path / "home")
    assert suite.operators[0].foreign == Foreign("scale")
    assert not trace.exists()
    assert main(["info", "--suite", "mine", "--bench-data", str(tmp_path / "home")]) == 0
    assert not trace.exists()
    assert not list(suite.operators[0].folder.glob("golden.py"))
