"""Two runs measured the same code exactly when an operator's sources have the same digest."""

from __future__ import annotations

from pathlib import Path

from worker.sources import source_digests

OPERATORS = ("exp", "gelu")


def tree(folder: Path) -> Path:
    for name, text in {
        "build.sh": "make",
        "csrc/ops/exp/exp.cpp": "exp",
        "csrc/ops/gelu/gelu.cpp": "gelu",
        "csrc/vector.h": "shared",
    }.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_the_same_files_give_the_same_digests_wherever_they_lie(tmp_path: Path) -> None:
    first, second = tree(tmp_path / "a"), tree(tmp_path / "b")
    assert source_digests(first, OPERATORS) == source_digests(second, OPERATORS)


def test_an_operators_own_file_changes_its_digest_alone(tmp_path: Path) -> None:
    folder = tree(tmp_path)
    before = source_digests(folder, OPERATORS)
    (folder / "csrc/ops/exp/exp.cpp").write_text("faster exp")
    after = source_digests(folder, OPERATORS)
    assert before["exp"] != after["exp"]
    assert before["gelu"] == after["gelu"]


def test_a_shared_file_changes_every_digest(tmp_path: Path) -> None:
    folder = tree(tmp_path)
    before = source_digests(folder, OPERATORS)
    (folder / "csrc/vector.h").write_text("another")
    after = source_digests(folder, OPERATORS)
    assert all(before[name] != after[name] for name in OPERATORS)


def test_a_moved_file_counts(tmp_path: Path) -> None:
    folder = tree(tmp_path)
    before = source_digests(folder, OPERATORS)
    (folder / "build.sh").rename(folder / "build2.sh")
    assert source_digests(folder, OPERATORS)["exp"] != before["exp"]
