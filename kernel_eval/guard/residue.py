"""Residue: what a submission leaves behind, and CPU time it can't have had."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from kernel_eval.model import Flag, FlagId, Severity

COUNTER_STEP_NS = 4_000_000
"""CPU counters of a process move in steps of the kernel's tick, per core."""


@dataclass(frozen=True)
class PackageMark:
    """Size, time of change and inode of every file of a package, by its path within."""

    files: Mapping[str, tuple[int, int, int]]


def mark_package(package_dir: Path) -> PackageMark:
    """What the built package looks like now."""
    files = {}
    for folder, _, names in os.walk(package_dir):
        for name in names:
            path = Path(folder, name)
            state = path.lstat()
            files[str(path.relative_to(package_dir))] = (state.st_size, state.st_mtime_ns, state.st_ino)
    return PackageMark(files)


def package_residue(before: PackageMark, package_dir: Path) -> Iterator[Flag]:
    """A `residue` flag where the package, read-only to children, changed while it was judged."""
    after = mark_package(package_dir).files
    changed = sorted(name for name in before.files.keys() | after if before.files.get(name) != after.get(name))
    if changed:
        message = f"{len(changed)} files of the built package changed while it was judged, first {changed[0]}"
        yield Flag(FlagId.RESIDUE, Severity.HOLD, "", None, message, {"files": changed[:20]})


def cpu_above_wall(cpu_ns: int, elapsed_ns: int, threads: int) -> bool:
    """Whether a child used more CPU time than its cores can give in the time it took, a counter step per core aside."""
    return cpu_ns > threads * (elapsed_ns + COUNTER_STEP_NS)
