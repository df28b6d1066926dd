"""Mutated task trees are imported or refused, whole."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from kernel_eval.errors import UsageError
from kernel_eval.model import Split
from tests.factories.foreign import (
    write_task_tree,
)
from tests.factories.imported_trees import imported


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
