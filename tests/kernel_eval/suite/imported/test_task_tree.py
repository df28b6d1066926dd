"""Import of a task tree: whole, with every fault at once, or not at all. Nothing of it is executed."""

from __future__ import annotations

import json
import math
import os
import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from kernel_eval.cli import main
from kernel_eval.errors import SuiteInvalid, UsageError
from kernel_eval.hap import save_peaks
from kernel_eval.model import Bottleneck, Comparator, Foreign, Provenance, RangeKind, Split, Suite
from kernel_eval.suite import load_suite
from kernel_eval.suite.anchors import load_anchors
from kernel_eval.suite.imported.schema import parse_schema
from kernel_eval.suite.imported.store import keep
from kernel_eval.suite.imported.task_tree import gather_task_tree
from tests.factories.foreign import (
    METADATA,
    PICK_CASES,
    SCALE_CASES,
    SCALE_GOLDEN,
    SCALE_PROTO,
    write_operator,
    write_task_tree,
)
from tests.factories.judged_reports import PEAKS

FACTS = Path("/work/shared")
KEYS = ("operator", "case_id", "input_shapes", "dtypes", "attrs", "value_range")
WHEN = "2026-01-01T00:00:00+00:00"


def imported(root: Path, home: Path, name: str = "mine") -> Suite:
    return keep(gather_task_tree(root), home, name, "1.0.0", WHEN, replace=False)


def faults_of(root: Path) -> str:
    with pytest.raises(SuiteInvalid) as caught:
        gather_task_tree(root)
    return str(caught.value)


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


def test_the_digest_changes_with_every_file_that_decides(tmp_path: Path) -> None:
    def digest(number: int, path: str = "", text: str = "") -> str:
        root = write_task_tree(tmp_path / str(number))
        if path:
            (root / path).write_text(text or (root / path).read_text() + "\n# changed\n")
        return imported(root, tmp_path / f"home{number}").digest

    first = digest(0)
    assert digest(1) == first
    changes = [
        ("level1/scale/golden.py", ""),
        ("level1/scale/desc.md", ""),
        ("level1/scale/proto.yaml", SCALE_PROTO.replace("0.001", "0.002")),
        ("level1/scale/cases.yaml", SCALE_CASES.replace("[-1, 1]", "[-1, 2]")),
        ("level2/pick_rows/cases.csv", PICK_CASES.replace("no bias", "none")),
        ("metadata/910b2.json", json.dumps(METADATA).replace("1.09", "1.1")),
    ]
    found = [digest(number, *change) for number, change in enumerate(changes, 2)]
    assert len({first, *found}) == len(changes) + 1


def test_a_golden_is_looked_at_but_never_executed(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    golden = f"open({str(trace)!r}, 'w').write('x')\nimport nothing_of_this_name\n" + SCALE_GOLDEN
    suite = imported(write_operator(tmp_path / "tree", golden), tmp_path / "home")
    assert suite.operators[0].foreign == Foreign("scale")
    assert not trace.exists()
    assert main(["info", "--suite", "mine", "--bench-data", str(tmp_path / "home")]) == 0
    assert not trace.exists()
    assert not list(suite.operators[0].folder.glob("golden.py"))


Change = Callable[[Path], object]


def proto(old: str, new: str) -> Change:
    return lambda root: (root / SCALE / "proto.yaml").write_text(SCALE_PROTO.replace(old, new))


def cases(old: str, new: str) -> Change:
    return lambda root: (root / SCALE / "cases.yaml").write_text(SCALE_CASES.replace(old, new))


def written(path: str, text: str) -> Change:
    return lambda root: (root / path).write_text(text)


SCALE = "level1/scale"
FAULTS: dict[str, tuple[Change, str]] = {
    "broken YAML": (written(f"{SCALE}/proto.yaml", "a: ["), f"{SCALE}/proto.yaml: not readable as YAML"),
    "no mapping": (written(f"{SCALE}/proto.yaml", "- 1"), "must be a mapping with the key 'operator'"),
    "unknown key": (
        lambda r: (r / SCALE / "proto.yaml").write_text(SCALE_PROTO + "  colour: red\n"),
        "unknown key 'colour'; remove or correct it",
    ),
    "misspelt compare": (
        proto("{name: y, dtype", "{name: y, compair: false, dtype"),
        "outputs[0]: unknown key 'compair'",
    ),
    "no schema": (
        lambda r: (r / SCALE / "proto.yaml").write_text("operator: {name: Scale}"),
        "proto.yaml, schema: is missing",
    ),
    "inputs contradict the schema": (
        proto("- {name: x, dtype", "- {name: z, dtype"),
        "inputs: names z, the schema x; make them agree",
    ),
    "unknown dtype": (
        proto("float16, float32], desc", "int4], desc"),
        "inputs, x, dtype: unknown dtype 'int4'",
    ),
    "threshold beyond one": (
        proto("0.001", "3"),
        "precision_thresholds, float32: 3 is no threshold",
    ),
    "schema that is none": (
        proto("-> Tensor y", ""),
        "proto.yaml, schema: the schema must look like",
    ),
    "broken CSV": (
        lambda r: (r / "level2/pick_rows/cases.csv").write_text(PICK_CASES + '3,"[[1'),
        "cases.csv:3: not readable as CSV",
    ),
    "no case": (lambda r: (r / SCALE / "cases.yaml").write_text("cases: []"), "at least one case"),
    "unknown key of a case": (
        cases("value_range: [-1, 1]", "rnage: [-1, 1]"),
        "cases.yaml, case 1, rnage: is unknown",
    ),
    "dtype outside the proto": (
        cases("dtype: float32", "dtype: int8"),
        "case 1, dtype: input 'x' cannot be int8; proto.yaml allows float16, float32",
    ),
    "attribute outside the schema": (
        cases("factor: 1.5", "speed: 1.5"),
        "case 1, attrs: 'speed' is no attribute",
    ),
    "another operator's case": (
        cases("operator: Scale, case_id: 1", "operator: Exp, case_id: 1"),
        "operator: is 'Exp', the folder's is Scale",
    ),
    "two of one id": (
        cases("case_id: 2", "case_id: 1"),
        "case_id 1 occurs more than once",
    ),
    "an input without a shape": (
        cases("[[3, 5]]", "[null]"),
        "input 'x' needs a shape",
    ),
    "missing golden": (lambda r: (r / SCALE / "golden.py").unlink(), f"{SCALE}/golden.py: is missing; add it"),
    "missing cases": (lambda r: (r / SCALE / "cases.yaml").unlink(), "cases.yaml or cases.csv: is missing"),
    "golden of another name": (
        written(f"{SCALE}/golden.py", "def exp(x): return x\n"),
        "golden.py: defines no function scale",
    ),
    "golden that is no Python": (
        written(f"{SCALE}/golden.py", "def scale(x:\n"),
        "golden.py, line 1: is no Python",
    ),
    "golden of other arguments": (
        written(f"{SCALE}/golden.py", "def scale(a, factor, dims): return a\n"),
        "scale, line 1: does not take 'x' of the schema",
    ),
    "metadata that is no JSON": (written("metadata/910b2.json", "{"), "910b2.json: not readable as JSON"),
    "a time below zero": (
        lambda r: (r / "metadata/910b2.json").write_text(json.dumps(METADATA).replace("40.2", "-1", 1)),
        "level1, scale, 1: -1 is no time",
    ),
    "a level that is none": (lambda r: (r / "level1").rename(r / "level9"), "level9: levels are"),
    "a function twice": (
        lambda r: (r / SCALE).rename(r / "level1/other") and write_operator(r, SCALE_GOLDEN),
        "scale: is the function of more than one folder",
    ),
    "a function of a reserved name": (
        lambda r: (
            proto("scale(", "empty(")(r),
            (r / SCALE / "golden.py").write_text(SCALE_GOLDEN.replace("def scale", "def empty")),
        ),
        "scale: its function empty has a reserved name",
    ),
    "a link to a file": (
        lambda r: (r / SCALE / "golden.py").unlink() or (r / SCALE / "golden.py").symlink_to("/etc/passwd"),
        "golden.py: is a symbolic link; put the file itself there",
    ),
    "a link to a folder": (
        lambda r: (r / "level1/linked").symlink_to(r / SCALE),
        "level1/'linked': is a symbolic link to a folder",
    ),
    "a pipe": (
        lambda r: (r / SCALE / "golden.py").unlink() or os.mkfifo(r / SCALE / "golden.py"),
        "golden.py: is no plain file",
    ),
    "a name of control characters": (
        lambda r: (r / SCALE).rename(r / "level1/sc\x1b[31male"),
        "level1/'sc\\x1b[31male': is no name that can be shown",
    ),
    "a title of control characters": (
        proto("name: Scale", 'name: "\\e[31mScale"'),
        "proto.yaml, name: must be a short printable text",
    ),
    "a schema of control characters": (
        proto("float factor=2.0", "float factor=2.0, str s='\\e[31m'"),
        "proto.yaml, schema: the schema holds characters that cannot be shown",
    ),
    "a file of no encoding": (lambda r: (r / SCALE / "golden.py").write_bytes(b"\xff\xfe"), "golden.py: is no UTF-8"),
    "a huge file": (
        lambda r: (r / SCALE / "golden.py").write_text("#" * ((1 << 20) + 1)),
        "golden.py: is larger than 1 MiB",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("change", "named"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_named_with_its_file_and_key(tmp_path: Path, change: Change, named: str) -> None:
    root = write_task_tree(tmp_path / "tree")
    change(root)
    assert named in faults_of(root)


def test_all_faults_of_all_files_are_named_at_once_and_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = write_task_tree(tmp_path / "tree")
    for name in ("unknown key", "broken CSV", "golden that is no Python", "metadata that is no JSON", "no case"):
        FAULTS[name][0](root)
    code = main(["suite", "import", str(root), "--name", "mine", "--bench-data", str(tmp_path / "home")])
    said = capsys.readouterr().err
    assert code == 2
    assert all(line.startswith("kernel-eval: import.") for line in said.splitlines())
    for name in ("unknown key", "broken CSV", "metadata that is no JSON"):
        assert FAULTS[name][1] in said
    assert not (tmp_path / "home").exists()


def test_unknown_keys_may_be_left_out_with_a_note(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = write_task_tree(tmp_path / "tree")
    FAULTS["unknown key"][0](root)
    words = ["suite", "import", str(root), "--name", "mine", "--bench-data", str(tmp_path / "home")]
    assert main([*words, "--ignore-unknown-keys"]) == 0
    captured = capsys.readouterr()
    assert "unknown key 'colour' was left out" in captured.err
    assert "3 operators, 6 cases" in captured.out


@pytest.mark.parametrize(
    "name", ["../mine", "a/b", "", ".hidden", "Mine", "x" * 65, "mine\n", "/etc", "cann-bench-small"]
)
def test_a_name_that_leads_elsewhere_or_is_taken_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "home" / "suites").mkdir(parents=True)
    (tmp_path / "home" / "suites" / "cann-bench-small.toml").touch()
    gathered = gather_task_tree(write_task_tree(tmp_path / "tree"))
    with pytest.raises(UsageError, match="--name"):
        keep(gathered, tmp_path / "home", name, "1.0.0", WHEN, replace=True)
    assert sorted(path.name for path in (tmp_path / "home").iterdir()) == ["suites"]


def test_our_own_suite_takes_precedence_and_unknown_names_tell_the_known_ones(tmp_path: Path) -> None:
    imported(write_task_tree(tmp_path / "tree"), tmp_path)
    with pytest.raises(SuiteInvalid, match=r"suites in .*: mine"):
        load_suite(tmp_path, "other")
    (tmp_path / "suites").mkdir()
    (tmp_path / "suites" / "mine.toml").write_text("name = 3\n")
    with pytest.raises(SuiteInvalid, match=r"suites/mine\.toml"):
        load_suite(tmp_path, "mine")


def test_a_suite_is_replaced_only_where_that_was_asked_for(tmp_path: Path) -> None:
    home = tmp_path / "home"
    first = imported(write_task_tree(tmp_path / "tree"), home)
    other = gather_task_tree(write_operator(tmp_path / "other", SCALE_GOLDEN))
    with pytest.raises(UsageError, match="imported before"):
        keep(other, home, "mine", "1.0.0", WHEN, replace=False)
    assert load_suite(home, "mine").digest == first.digest
    second = keep(other, home, "mine", "1.0.0", WHEN, replace=True)
    assert load_suite(home, "mine") == second != first
    assert [path.name for path in (home / "imported").iterdir()] == ["mine"]


def test_what_a_killed_import_left_behind_is_no_suite_and_goes_in_time(tmp_path: Path) -> None:
    gathered = gather_task_tree(write_task_tree(tmp_path / "tree"))
    old, new = tmp_path / "imported" / ".mine.0123", tmp_path / "imported" / ".mine.4567"
    for folder in (old, new):
        folder.mkdir(parents=True)
        (folder / "suite.json").write_text("{")
    os.utime(old, (1, 1))
    with pytest.raises(SuiteInvalid, match="none"):
        load_suite(tmp_path, "mine")
    keep(gathered, tmp_path, "mine", "1.0.0", WHEN, replace=False)
    assert sorted(path.name for path in (tmp_path / "imported").iterdir()) == [".mine.4567", "mine"]


def test_faults_show_foreign_text_without_control_characters(tmp_path: Path) -> None:
    root = write_task_tree(tmp_path)
    (root / SCALE / "cases.yaml").write_text(
        SCALE_CASES.replace("note:", "").replace("attrs: {}", 'attrs: {}, "\\e[31mx\\n": 1')
    )
    (root / SCALE / "proto.yaml").write_text(SCALE_PROTO + '  "\\e]0;title\\a": 1\n')
    (root / "metadata/910b2.json").write_text('{"level1": {"\\u001b[31m": {"1": -1}}}')
    assert all(line.isprintable() for line in faults_of(root).splitlines())


def test_a_folder_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    gathered = gather_task_tree(write_task_tree(tmp_path / "tree"))
    (tmp_path / "home").write_text("a file, no folder")
    with pytest.raises(UsageError, match="cannot be written"):
        keep(gathered, tmp_path / "home", "mine", "1.0.0", WHEN, replace=False)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"format": 1}', '{"format": 2}', "null", '{"format": 1, "operators": 3}']
)
def test_a_damaged_suite_is_named(tmp_path: Path, text: str) -> None:
    imported(write_task_tree(tmp_path / "tree"), tmp_path)
    (tmp_path / "imported" / "mine" / "suite.json").write_text(text)
    with pytest.raises(SuiteInvalid, match=r"mine/suite\.json"):
        load_suite(tmp_path, "mine")


def test_a_damaged_operators_name_leads_nowhere(tmp_path: Path) -> None:
    imported(write_task_tree(tmp_path / "tree"), tmp_path)
    path = tmp_path / "imported" / "mine" / "suite.json"
    path.write_text(path.read_text().replace('"name": "scale"', '"name": "../../../etc"'))
    with pytest.raises(SuiteInvalid, match="no operator's name"):
        load_suite(tmp_path, "mine")


BOMBS = {
    "aliases": "a: &a [x,x,x,x]\nb: &b [*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b]\noperator: {name: [*c,*c]}\n",
    "depth": "operator: " + "[" * 100_000,
    "flow depth that closes": "operator: " + "[" * 5000 + "]" * 5000,
    "a number of a million digits": "operator: {name: Scale, schema: " + "9" * 900_000 + "}",
    "tags": "operator: !!python/object/apply:os.system ['true']",
    "merge": "a: &a {x: 1}\noperator:\n  <<: *a\n",
}


@pytest.mark.parametrize("text", BOMBS.values(), ids=BOMBS)
def test_yaml_bombs_are_refused_at_once(tmp_path: Path, text: str) -> None:
    root = write_task_tree(tmp_path)
    (root / SCALE / "proto.yaml").write_text(text)
    started = time.monotonic()
    assert f"{SCALE}/proto.yaml" in faults_of(root)
    assert time.monotonic() - started < 10


PYTHON_BOMBS = {
    "brackets": "(" * 200_000,
    "a long sum": "x = " + "+".join("1" * 1 for _ in range(200_000)),
    "attributes": "x" + ".a" * 200_000,
    "minus": "x = " + "-" * 300_000 + "1",
    "null byte": "x = 1\0",
    "a string with escapes": "x = '\\d'\n" + SCALE_GOLDEN,
}


@pytest.mark.parametrize("text", PYTHON_BOMBS.values(), ids=PYTHON_BOMBS)
def test_source_that_is_hard_to_read_is_refused_or_read(tmp_path: Path, text: str) -> None:
    root = write_operator(tmp_path, text)
    found = ""
    try:
        gather_task_tree(root)
    except SuiteInvalid as error:
        found = str(error)
    assert not found or "golden.py" in found


def mutated(text: str, chance: random.Random) -> str:
    characters = list(text)
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(characters))
        piece = chance.choice(
            [
                "",
                "\x00",
                "\n",
                '"',
                "[",
                "]",
                "{",
                "}",
                ":",
                ",",
                "-",
                "é",
                "1e999",
                "&a *a",
                "null",
                "'",
                "\t",
                "nan",
                "~",
                "9" * 30,
            ]
        )
        characters[at : at + chance.randint(0, 3)] = piece
    return "".join(characters)


def fuzz(root: Path, rounds: int) -> None:
    chance = random.Random(31)
    write_task_tree(root / "tree")
    paths = sorted(path for path in (root / "tree").rglob("*") if path.is_file() and path.suffix != ".md")
    for round_number in range(rounds):
        path = paths[round_number % len(paths)]
        text = path.read_text()
        path.write_text(mutated(text, chance))
        home = root / "home"
        if import_or_refuse(root / "tree", home):
            shutil.rmtree(home / "imported" / "mine")
        assert not list(home.glob("imported/*"))
        path.write_text(text)


def import_or_refuse(tree: Path, home: Path) -> bool:
    """Whether the tree was imported; a refusal has words, anything else is a failure of the test."""
    try:
        suite = imported(tree, home)
    except UsageError as error:
        text = str(error)
    else:
        return bool(suite.cases) and all(case.split is Split.PUBLIC for case in suite.cases)
    assert text.strip()
    return False


def test_mutated_trees_are_imported_or_refused_but_never_crash(tmp_path: Path) -> None:
    fuzz(tmp_path, 200)


@pytest.mark.slow
def test_ten_thousand_mutated_trees_are_imported_or_refused_but_never_crash(tmp_path: Path) -> None:
    fuzz(tmp_path, 10_000)


def test_commands_that_need_more_than_an_imported_suite_has_say_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    imported(write_task_tree(tmp_path / "tree"), tmp_path)
    (tmp_path / "secret").write_bytes(bytes(32))
    home = ["--bench-data", str(tmp_path)]
    hidden = ["--secret-file", str(tmp_path / "secret"), "--season", "s", "--output", str(tmp_path / "out")]
    record = ["--output", str(tmp_path / "a"), "--peaks", str(tmp_path / "peaks.json")]
    assert main(["suite", "validate", "mine", *home]) == 0
    assert "3 operators, 6 cases, no fault" in capsys.readouterr().out
    for words in (
        ["suite", "generate", "mine", *home],
        ["hidden", "generate", "--suite", "mine", *home, *hidden],
        ["hap", "--suite", "mine", *home, "--peaks", str(tmp_path / "peaks.json")],
        ["baseline", "record", "--suite", "mine", *home, "--version", "v", *record],
    ):
        save_peaks(PEAKS, tmp_path / "peaks.json")
        assert main(words) == 2, words
        assert "mported" in (said := capsys.readouterr().err) or "nobody knows" in said
    assert not (tmp_path / "out").exists()
