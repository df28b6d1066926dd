"""Guards find what they look for, leave honest code alone, and never fail silently."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from kernel_eval.guard import (
    attempted,
    cpu_above_wall,
    guarded,
    mark_package,
    package_residue,
    scan_binaries,
    scan_source,
)
from kernel_eval.guard.elf import elf_names
from kernel_eval.model import Flag, FlagId, Severity

LIBRARY = r"""
#include <dlfcn.h>
#include <unistd.h>
extern "C" int look(const char* name) { return dlopen(name, RTLD_NOW) != nullptr || fork() == 0; }
"""
PLAIN = 'extern "C" float twice(float x) { return x + x; }'


def library(folder: Path, source: str) -> Path:
    (folder / "cann_bench").mkdir(parents=True)
    (folder / "code.cpp").write_text(source)
    target = folder / "cann_bench" / "lib.so"
    subprocess.run(["g++", "-shared", "-fPIC", "-Wl,--no-as-needed", "-o", target, folder / "code.cpp"], check=True)
    return target


def test_a_scan_names_what_a_library_calls(tmp_path: Path) -> None:
    library(tmp_path, LIBRARY)
    flags = list(scan_binaries(tmp_path))
    assert {flag.evidence["kind"] for flag in flags} == {"loader", "process"}
    assert all(flag.id is FlagId.BINARY_HINT and flag.severity is Severity.NOTE for flag in flags)


def test_a_plain_library_raises_no_hint(tmp_path: Path) -> None:
    target = library(tmp_path, PLAIN)
    assert list(scan_binaries(tmp_path)) == []
    assert elf_names(target.read_bytes()).needed


def test_a_broken_library_makes_the_guard_say_so(tmp_path: Path) -> None:
    target = library(tmp_path, PLAIN)
    whole = target.read_bytes()
    target.write_bytes(whole[: len(whole) // 3])
    (flag,) = guarded("binary", "", lambda: scan_binaries(tmp_path))
    assert flag.id is FlagId.GUARD_ERROR
    assert "binary" in flag.message


def test_every_cut_of_a_library_ends_in_names_or_in_a_plain_error(tmp_path: Path) -> None:
    whole = library(tmp_path, PLAIN).read_bytes()
    for end in range(0, len(whole), 97):
        flags = guarded(
            "binary", "", lambda cut=whole[:end]: [Flag(FlagId.RESIDUE, Severity.NOTE, "", None, str(elf_names(cut)))]
        )
        assert len(flags) == 1


def test_source_hints_name_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "kernel.cpp").write_text("// fine\nint x;\nauto y = fork();\n")
    (tmp_path / "notes.md").write_text("fork(")
    (flag,) = scan_source(tmp_path)
    assert flag.evidence["places"] == ["kernel.cpp:3: fork"]


def test_honest_sources_raise_no_hint(project: Path) -> None:
    example = project / "examples" / "cpu_cpp"
    assert example.is_dir()
    assert list(scan_source(example)) == []


def test_a_guard_that_raises_becomes_a_flag() -> None:
    def broken() -> Iterator[Flag]:
        raise RuntimeError("out of luck")
        yield

    (flag,) = guarded("any", "exp", broken)
    assert (flag.id, flag.operator, flag.severity) == (FlagId.GUARD_ERROR, "exp", Severity.REVIEW)


VARIED = torch.tensor([1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("golden", "found", "expected"),
    [
        (VARIED, torch.tensor([5.0, 6.0, 5.0]), True),
        (VARIED, torch.zeros(3), False),
        (VARIED, torch.full((3,), float("nan")), False),
        (VARIED, torch.tensor([float("nan"), 1.0, 1.0]), True),
        (torch.zeros(3), torch.zeros(3), None),
        (torch.tensor(4.0), torch.tensor(0.0), None),
        (torch.empty(0), torch.empty(0), None),
        (torch.arange(10_000), torch.zeros(10_000, dtype=torch.int64), False),
        (torch.arange(10_000), (torch.arange(10_000) == 9_999).to(torch.int64), True),
        (torch.tensor([True, False]), torch.tensor([True, True]), False),
    ],
)
def test_an_attempt_shows_in_outputs_that_vary(
    golden: torch.Tensor, found: torch.Tensor, expected: bool | None
) -> None:
    assert attempted([[golden]], [[found]]) is expected


def test_one_varying_output_of_several_is_an_attempt() -> None:
    assert attempted([[VARIED], [VARIED]], [[torch.zeros(3)], [VARIED]]) is True


def test_a_package_that_changes_while_judged_leaves_a_trace(tmp_path: Path) -> None:
    folder = tmp_path / "cann_bench"
    folder.mkdir()
    (folder / "__init__.py").write_text("x = 1\n")
    mark = mark_package(tmp_path)
    assert list(package_residue(mark, tmp_path)) == []
    (folder / "cache.bin").write_bytes(b"1")
    (flag,) = package_residue(mark, tmp_path)
    assert flag.evidence["files"] == ["cann_bench/cache.bin"]
    shutil.rmtree(folder)
    (flag,) = package_residue(mark, tmp_path)
    assert flag.severity is Severity.HOLD


def test_cpu_time_beyond_the_cores_is_seen_and_the_counters_step_allowed() -> None:
    assert not cpu_above_wall(18_000_000, 5_000_000, 2)
    assert cpu_above_wall(18_000_001, 5_000_000, 2)
