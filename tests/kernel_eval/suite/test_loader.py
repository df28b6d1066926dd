"""Loading: a right folder gives a suite, a wrong one all its faults at once."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from kernel_eval.errors import SuiteInvalid, UsageError
from kernel_eval.model import RangeKind, Split
from kernel_eval.suite import default_bench_data, load_suite
from tests.factories.tasks import GOLDEN, PROTO, SUITE, TABLE, write_suite


def rules(error: SuiteInvalid) -> set[str]:
    return {fault.rule for fault in error.faults}


def test_a_right_folder_gives_operators_and_cases(tmp_path: Path) -> None:
    suite = load_suite(write_suite(tmp_path), "tiny")
    operator = suite.operator("double")
    assert (operator.function, operator.attributes[0].default, operator.outputs[0].shape) == (
        "double",
        2.0,
        "same as x",
    )
    first, second = suite.cases_of("double")
    assert (first.shapes, first.dtypes, first.attributes) == (((3, 5),), ("float32",), {"factor": 2.5})
    assert second.value_ranges[0].kind is RangeKind.NAN
    assert len(suite.seeds[Split.PUBLIC]) == 32


def test_loading_needs_neither_torch_nor_numpy() -> None:
    program = (
        "import sys, kernel_eval.suite.digest\n"
        "assert not {'yaml', 'torch', 'numpy'} & set(sys.modules), 'digest is not pure'\n"
        "from kernel_eval.suite import load_suite, default_bench_data\n"
        "load_suite(default_bench_data(), 'cann-bench-small')\n"
        "assert not {'torch', 'numpy', 'pandas'} & set(sys.modules), 'loading needs torch or numpy'\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=Path(__file__).parents[3])


def test_the_folder_can_be_configured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HAPBOARD_BENCH_DATA", str(tmp_path))
    assert default_bench_data() == tmp_path


PATHS = [
    "suites/tiny.toml",
    "level1/double/desc.md",
    "level1/double/desc.zh.md",
    "level1/double/proto.yaml",
    "level1/double/golden.py",
    "level1/double/cases_small.csv",
]


@pytest.mark.parametrize("path", PATHS)
def test_the_digest_changes_with_every_file(tmp_path: Path, path: str) -> None:
    root = write_suite(tmp_path)
    before = load_suite(root, "tiny").digest
    assert load_suite(root, "tiny").digest == before
    text = (root / path).read_text()
    changed = text.replace("plain", "plain!") if path.endswith(".csv") else text + "\n# changed\n"
    (root / path).write_text(changed)
    assert load_suite(root, "tiny").digest != before


@pytest.mark.parametrize("path", PATHS)
def test_a_missing_file_is_named(tmp_path: Path, path: str) -> None:
    root = write_suite(tmp_path)
    (root / path).unlink()
    with pytest.raises(SuiteInvalid, match=path):
        load_suite(root, "tiny")


def test_the_digest_ignores_files_that_do_not_count(tmp_path: Path) -> None:
    root = write_suite(tmp_path)
    before = load_suite(root, "tiny").digest
    (root / "level1" / "double" / "__pycache__").mkdir()
    (root / "level1" / "double" / "notes.txt").write_text("mine")
    assert load_suite(root, "tiny").digest == before


def test_all_faults_of_all_files_are_named_at_once(tmp_path: Path) -> None:
    root = write_suite(
        tmp_path,
        proto=PROTO.replace("level: L1", "level: L9").replace("float32]}", "float33]}") + "colour: red\n",
        suite=SUITE.replace('"double"]', '"double", "triple"]').replace('scale = "small"', 'scale = "small"\nx = 1'),
    )
    (root / "level1" / "double" / "desc.md").unlink()
    with pytest.raises(SuiteInvalid) as caught:
        load_suite(root, "tiny")
    assert {
        "proto.level", "proto.dtype", "declaration.unknown_key", "operator.missing", "operator.file", "space.dtypes",
    } <= rules(caught.value)  # fmt: skip
    assert "'colour'" in str(caught.value)
    assert "level1/triple" in str(caught.value)


BAD_PROTOS = [
    ("a: [", "proto.yaml"),
    ("- 1\n", "declaration.mapping"),
    ("", "declaration.mapping"),
    (PROTO.replace("title: Double\n", ""), "declaration.missing_key"),
    (PROTO.replace("title: Double", "title: [1]"), "declaration.type"),
    (PROTO.replace("operator: double", "operator: triple"), "proto.operator"),
    (PROTO.replace("function: double", "function: 2x"), "proto.name"),
    (PROTO.replace("schema: double(", "schema: twice("), "proto.schema"),
    (PROTO.replace("Tensor x, float", "Tensor z, float"), "proto.schema"),
    (PROTO.replace("dtype: same as x", "dtype: same as z"), "proto.output_dtype"),
    (PROTO.replace("shape: same as x", "shape: square"), "proto.output_shape"),
    (PROTO.replace("shape: same as x", "shape: scalar") + "elementwise: true\n", "proto.elementwise"),
    (PROTO.replace("type: float,", "type: complex,"), "proto.attribute_type"),
    (PROTO + "thresholds: {float32: 2}\n", "proto.threshold"),
    (PROTO + "thresholds: {float32: 0.01}\n", "proto.threshold_reason"),
    (PROTO + "absolute_errors: {float32: 0.001}\n", "proto.threshold_reason"),
    (PROTO.replace("between: [1.0, 3.0]", "between: [3.0, 1.0]"), "space.attributes"),
    (PROTO.replace("between: [1.0, 3.0]", "choose: [red]"), "space.attributes"),
    (PROTO.replace("    factor: {between: [1.0, 3.0]}", "    colour: {choose: [1]}"), "space.attributes"),
    (PROTO.replace("ranks: [1, 2]", "ranks: []"), "space.ranks"),
    (PROTO.replace("dtypes: [float16, float32]\n  a", "dtypes: [int8]\n  a"), "space.dtypes"),
    (PROTO + "  exemptions: {zero: no}\n", "declaration.type"),
    (PROTO + "  exemptions: {nonsense: a reason in many words}\n", "space.exemptions"),
    (PROTO + "  overrides: {huge: {}}\n", "space.overrides"),
]


@pytest.mark.parametrize(("proto", "rule"), BAD_PROTOS)
def test_a_bad_declaration_is_named(tmp_path: Path, proto: str, rule: str) -> None:
    with pytest.raises(SuiteInvalid) as caught:
        load_suite(write_suite(tmp_path, proto=proto), "tiny")
    assert rule in rules(caught.value), str(caught.value)
    assert all("level1/double" in fault.where for fault in caught.value.faults)


HEAD, ROW, _ = TABLE.splitlines()
BAD_TABLES = [
    ("", "cases.header"),
    (HEAD + "\n", "cases.empty"),
    ("id," + TABLE, "cases.header"),
    (f"{HEAD}\n{ROW}\n{ROW}\n", "cases.duplicate_id"),
    (f"{HEAD}\n{ROW.replace('1,', '0,', 1)}\n", "cases.case_id"),
    (f"{HEAD}\n{ROW.replace('1,', 'one,', 1)}\n", "cases.case_id"),
    (f"{HEAD}\n{ROW.replace('[[3, 5]]', '[[3, -5]]')}\n", "cases.shapes"),
    (f"{HEAD}\n{ROW.replace('[[3, 5]]', '[[3, 5], [1]]')}\n", "cases.shapes"),
    (f"{HEAD}\n{ROW.replace('[[3, 5]]', '[null]')}\n", "cases.shapes"),
    (f"{HEAD}\n{ROW.replace('[[3, 5]]', '[[[3, 5]]]')}\n", "cases.shapes"),
    (f"{HEAD}\n{ROW.replace('[[3, 5]]', '[[3, 5')}\n", "cases.shapes"),
    (f"{HEAD}\n{ROW.replace('float32', 'int8')}\n", "cases.dtypes"),
    (f"{HEAD}\n{ROW.replace('2.5}', 'true}')}\n", "cases.attributes"),
    (f"{HEAD}\n{ROW.replace('factor', 'speed')}\n", "cases.attributes"),
    (f"{HEAD}\n{ROW.replace('uniform -1 1', 'uniform 1 -1')}\n", "cases.values"),
    (f"{HEAD}\n{ROW.replace('uniform -1 1', 'uniform 1')}\n", "cases.values"),
    (f"{HEAD}\n{ROW.replace('uniform -1 1', 'normal 0 1')}\n", "cases.values"),
    (f"{HEAD}\n{ROW.replace('uniform -1 1', 'uniform -inf 1')}\n", "cases.values"),
    (f"{HEAD}\n{ROW.replace('uniform -1 1', 'zero | zero')}\n", "cases.values"),
    (f"{HEAD}\n{ROW},extra\n", "cases.row"),
    (f'{HEAD}\n1,"[[3', "cases.csv"),
]


@pytest.mark.parametrize(("table", "rule"), BAD_TABLES)
def test_a_bad_table_is_named_with_its_line(tmp_path: Path, table: str, rule: str) -> None:
    with pytest.raises(SuiteInvalid) as caught:
        load_suite(write_suite(tmp_path, table=table), "tiny")
    assert rule in rules(caught.value), str(caught.value)
    assert all(fault.where.startswith("level1/double/cases_small.csv") for fault in caught.value.faults)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("name = ", "suite.toml"),
        (SUITE.replace('"tiny"', '"other"'), "suite.name"),
        (SUITE.replace('"small"', '"tiny"'), "suite.scale"),
        (SUITE.replace("L1 =", "L7 ="), "suite.level"),
        (SUITE.replace('["double"]', '["double", "double"]'), "suite.operators"),
        (SUITE.replace('["double"]', '["../double"]'), "suite.operators"),
        (SUITE.replace('["double"]', "[]"), "suite.operators"),
        (SUITE.replace('seed = "tiny seed"', "seed = 5"), "declaration.type"),
    ],
)
def test_a_bad_suite_file_is_named(tmp_path: Path, text: str, rule: str) -> None:
    with pytest.raises(SuiteInvalid) as caught:
        load_suite(write_suite(tmp_path, suite=text), "tiny")
    assert rule in rules(caught.value), str(caught.value)


def test_an_unknown_suite_names_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(SuiteInvalid, match="tiny"):
        load_suite(write_suite(tmp_path), "huge")


@pytest.mark.parametrize("name", ["../tiny", "", "a/b", "Tiny", "tiny\n"])
def test_a_name_that_is_none_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(SuiteInvalid, match="name"):
        load_suite(write_suite(tmp_path), name)


def mutated(text: str, chance: random.Random) -> str:
    """`text` with a few characters replaced, removed, doubled or inserted."""
    characters = list(text)
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(characters))
        piece = chance.choice(
            ["", "\x00", "\n", '"', "[", "]", "{", "}", ":", ",", "|", "inf", "-", "é", "1e999", "&a *a"]
        )
        characters[at : at + chance.randint(0, 2)] = piece
    return "".join(characters)


def load_or_refuse(root: Path) -> None:
    """Load a suite; a refusal has words, anything else is a failure of the test."""
    try:
        load_suite(root, "tiny")
    except UsageError as error:
        text = str(error)
    else:
        return
    assert text.strip()


def fuzz(root: Path, rounds: int) -> None:
    chance = random.Random(20)
    write_suite(root)
    folder = root / "level1" / "double"
    files = {
        folder / "proto.yaml": PROTO,
        folder / "cases_small.csv": TABLE,
        root / "suites" / "tiny.toml": SUITE,
    }
    for _ in range(rounds):
        for path, text in files.items():
            path.write_text(mutated(text, chance))
            load_or_refuse(root)
            path.write_text(text)
    assert (folder / "golden.py").read_text() == GOLDEN


def test_mutated_files_are_loaded_or_refused_but_never_crash(tmp_path: Path) -> None:
    fuzz(tmp_path, 40)


@pytest.mark.slow
def test_ten_thousand_mutated_files_are_loaded_or_refused_but_never_crash(tmp_path: Path) -> None:
    fuzz(tmp_path, 3_500)
