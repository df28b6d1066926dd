"""Bare modules become a package without any build, and without being executed."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

import pytest

from kernel_eval.build.compile import build_candidate
from kernel_eval.build.modules import LARGEST_BYTES, module_package
from kernel_eval.errors import UsageError
from kernel_eval.model import Candidate
from kernel_eval.settings import Settings

SOURCE = "class ModelNew:\n    def __init__(self):\n        self.value = 3\n"


def test_each_module_is_exported_under_its_files_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for stem in ("1_Linear", "two-words"):
        (tmp_path / f"{stem}.py").write_text(SOURCE)
    (tmp_path / "notes.py").write_text("# class ModelNew stands in a comment only\n")
    package = module_package(tmp_path)
    assert sorted(package) == [
        "cann_bench/__init__.py", "cann_bench/module_p1_linear.py", "cann_bench/module_two_words.py",
    ]  # fmt: skip
    for path, content in package.items():
        (tmp_path / "made" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "made" / path).write_bytes(content)
    monkeypatch.syspath_prepend(tmp_path / "made")
    try:
        made = importlib.import_module("cann_bench")
        assert dir(made) == ["p1_linear", "two_words"]
        assert made.p1_linear().value == 3
        with pytest.raises(AttributeError):
            made.ModelNew  # noqa: B018 -- there are two
    finally:
        for name in [name for name in sys.modules if name.startswith("cann_bench")]:
            del sys.modules[name]


def test_a_sole_module_is_also_modelnew(tmp_path: Path) -> None:
    (tmp_path / "ai_op.py").write_text(SOURCE)
    assert b"'ModelNew': 'module_ai_op'" in module_package(tmp_path)["cann_bench/__init__.py"]


def test_links_pipes_and_huge_files_are_no_modules(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text(SOURCE)
    (tmp_path / "link.py").symlink_to(tmp_path / "elsewhere")
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "huge.py").write_text(SOURCE + "#" * LARGEST_BYTES)
    assert module_package(tmp_path) == {}


def test_a_folder_of_modules_is_a_submission_that_is_not_executed(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "ai_op.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n{SOURCE}")
    settings = Settings(tmp_path / "work", tmp_path / "cache")
    build = build_candidate(Candidate(source), settings, tmp_path / "build")
    assert build.package_dir is not None
    assert (build.package_dir / "cann_bench" / "module_ai_op.py").is_file()
    assert not build.prebuilt
    assert not (tmp_path / "ran").exists()
    (source / "ai_op.py").write_text("import torch\n")
    with pytest.raises(UsageError, match="nothing to build"):
        build_candidate(Candidate(source), settings, tmp_path / "build")


def test_a_wheel_right_inside_the_folder_is_taken(tmp_path: Path) -> None:
    (tmp_path / "cann_bench-1-py3-none-any.whl").write_bytes(b"no wheel")
    build = build_candidate(Candidate(tmp_path), Settings(tmp_path / "work", tmp_path / "cache"), tmp_path / "build")
    assert "cann_bench-1-py3-none-any.whl" in build.message
