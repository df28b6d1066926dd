"""Module suites: looked at here, described in a box, one case per file."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from kernel_eval.errors import SuiteInvalid
from kernel_eval.suite.faults import FaultList
from kernel_eval.suite.imported.anchors import Times
from kernel_eval.suite.imported.gathered import Gathered
from kernel_eval.suite.imported.modules import gather_modules, read_modules
from tests.factories.foreign import LINEAR, PAIR, write_modules

DESCRIPTION = {
    "inputs": [{"dtype": "float32", "shape": [5, 24]}, {"value": 0.5}],
    "outputs": [{"dtype": "float32", "shape": [5, 7]}],
    "init": [24, 7],
}


def gathered(root: Path, description: object) -> Gathered:
    tree = read_modules(root)
    text = description if isinstance(description, bytes) else json.dumps(description).encode()
    return gather_modules(tree, {file.name: text for file in tree.files}, FaultList())


def test_files_are_found_with_their_names_levels_and_times(tmp_path: Path) -> None:
    root = write_modules(tmp_path)
    (root / "loose.py").write_text(PAIR)
    (root / "tools.py").write_text("import os\n")
    tree = read_modules(root)
    assert [(file.name, str(file.level)) for file in tree.files] == [
        ("loose", "L1"), ("p1_linear_with_relu", "L1"), ("p2_pair", "L1"),
    ]  # fmt: skip
    assert tree.times["910b2"] == {"p1_linear_with_relu": Times(12.5), "p2_pair": Times(3.5)}
    assert tree.times["910b1"] == {"p2_pair": Times(4)}
    assert any("tools.py: left out" in note for note in tree.notes)


@pytest.mark.parametrize(
    ("source", "named"),
    [
        (LINEAR.replace("class Model", "class Other"), "defines no class Model"),
        (LINEAR.replace("def get_inputs", "def other"), "defines no function get_inputs"),
        (LINEAR + "(", "is no Python"),
    ],
)
def test_a_file_that_is_no_problem_is_named(tmp_path: Path, source: str, named: str) -> None:
    root = write_modules(tmp_path)
    (root / "level1" / "3_bad.py").write_text(source)
    with pytest.raises(SuiteInvalid, match=named):
        read_modules(root)


def test_two_files_of_one_name_and_an_empty_folder_are_named(tmp_path: Path) -> None:
    root = write_modules(tmp_path / "one")
    (root / "level1" / "2-Pair.py").write_text(PAIR)
    with pytest.raises(SuiteInvalid, match="more than one problem"):
        read_modules(root)
    (tmp_path / "two").mkdir()
    with pytest.raises(SuiteInvalid, match="holds neither"):
        read_modules(tmp_path / "two")


def test_a_description_becomes_an_operator_and_its_case(tmp_path: Path) -> None:
    (tmp_path / "1_linear.py").write_text(LINEAR)
    found = gathered(tmp_path, DESCRIPTION)
    (operator,), (case,) = found.operators, found.cases
    assert operator.schema == "p1_linear(Tensor input0, float input1) -> Tensor output0"
    assert operator.foreign is not None
    assert (operator.foreign.module, json.loads(operator.foreign.init)) == (True, [24, 7])
    assert (case.shapes, case.dtypes, case.attributes) == (((5, 24),), ("float32",), {"input1": 0.5})


BAD: list[object] = [
    b"",
    b"[[[[",
    b"[" * 50_000,
    [],
    {},
    {**DESCRIPTION, "inputs": 3},
    {**DESCRIPTION, "inputs": [3]},
    {**DESCRIPTION, "inputs": [{"value": 1}]},
    {**DESCRIPTION, "inputs": [{"dtype": "complex64", "shape": [1]}]},
    {**DESCRIPTION, "inputs": [{"dtype": "float32", "shape": [-1]}]},
    {**DESCRIPTION, "inputs": [{"dtype": "float32", "shape": [1 << 39, 1 << 39]}]},
    {**DESCRIPTION, "inputs": [{"dtype": "float32", "shape": [True]}]},
    {**DESCRIPTION, "inputs": [{"dtype": "float32", "shape": "12"}]},
    {**DESCRIPTION, "inputs": [{"dtype": "float32", "shape": [1]}, {"value": "x"}]},
    {**DESCRIPTION, "inputs": [{"dtype": "float32", "shape": [1]}, {"value": [1]}]},
    {**DESCRIPTION, "inputs": [{"dtype": "float32", "shape": [1]}] * 65},
    {**DESCRIPTION, "outputs": []},
    {**DESCRIPTION, "outputs": [{"value": 1}]},
    {**DESCRIPTION, "init": float("nan")},
]


@pytest.mark.parametrize("description", BAD, ids=range(len(BAD)))
def test_a_description_that_makes_no_sense_is_refused(tmp_path: Path, description: object) -> None:
    (tmp_path / "1_linear.py").write_text(LINEAR)
    with pytest.raises(SuiteInvalid, match=r"1_linear\.py: what it says"):
        gathered(tmp_path, description)


def fuzz(root: Path, rounds: int) -> None:
    """Descriptions come out of a box, so they may hold anything."""
    (root / "1_linear.py").write_text(LINEAR)
    tree, chance = read_modules(root), random.Random(7)
    whole = json.dumps(DESCRIPTION)
    for _ in range(rounds):
        text = bytearray(whole.encode())
        for _ in range(chance.randint(1, 5)):
            at = chance.randrange(len(text))
            text[at : at + chance.randint(0, 3)] = chance.choice(
                [b"", b"9" * 30, b"[", b"}", b'"', b"\xff", b"null", b"-"]
            )
        try:
            found = gather_modules(tree, {"p1_linear": bytes(text)}, FaultList())
        except SuiteInvalid:
            continue
        assert len(found.cases) == 1


def test_mutated_descriptions_are_taken_or_refused(tmp_path: Path) -> None:
    fuzz(tmp_path, 500)


@pytest.mark.slow
def test_ten_thousand_mutated_descriptions_are_taken_or_refused(tmp_path: Path) -> None:
    fuzz(tmp_path, 10_000)
