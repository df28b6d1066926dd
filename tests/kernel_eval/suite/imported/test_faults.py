"""Faults of a task tree: each named with file and key, all at once; hostile text is refused."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kernel_eval.cli import main
from kernel_eval.errors import SuiteInvalid
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
from tests.factories.imported_trees import faults_of

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


def test_faults_show_foreign_text_without_control_characters(tmp_path: Path) -> None:
    root = write_task_tree(tmp_path)
    (root / SCALE / "cases.yaml").write_text(
        SCALE_CASES.replace("note:", "").replace("attrs: {}", 'attrs: {}, "\\e[31mx\\n": 1')
    )
    (root / SCALE / "proto.yaml").write_text(SCALE_PROTO + '  "\\e]0;title\\a": 1\n')
    (root / "metadata/910b2.json").write_text('{"level1": {"\\u001b[31m": {"1": -1}}}')
    assert all(line.isprintable() for line in faults_of(root).splitlines())


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
