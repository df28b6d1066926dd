"""Imported suites as they are kept: names, digest, replacement, damage."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from kernel_eval.cli import main
from kernel_eval.errors import SuiteInvalid, UsageError
from kernel_eval.hap import save_peaks
from kernel_eval.suite import load_suite
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
from tests.factories.imported_trees import WHEN, imported
from tests.factories.judged_reports import PEAKS


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
