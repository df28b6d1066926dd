from __future__ import annotations

import os
from pathlib import Path

import pytest

from kernel_eval.device import cpu_topology
from kernel_eval.device.cpu_topology import read_topology
from kernel_eval.errors import InternalError

CACHES = [("Data", "1", "32K"), ("Instruction", "1", "64K"), ("Unified", "2", "1M"), ("Unified", "3", "36608K")]


def host(folder: Path, caches: list[tuple[str, str, str]], cpuinfo: str) -> tuple[Path, Path]:
    for number, parts in enumerate(caches):
        index = folder / f"cpu0/cache/index{number}"
        index.mkdir(parents=True)
        for name, text in zip(("type", "level", "size"), parts, strict=True):
            (index / name).write_text(text + "\n")
    (folder / "cpuinfo").write_text(cpuinfo)
    return folder, folder / "cpuinfo"


def test_sizes_and_model_are_read_as_the_system_tells_them(tmp_path: Path) -> None:
    topology = read_topology(
        *host(tmp_path, CACHES, "processor\t: 0\nmodel name\t: Model T 9\nflags\t: fpu amx_tile\n")
    )
    assert (topology.model, topology.l1_bytes, topology.l2_bytes) == ("Model T 9", 32 * 2**10, 2**20)
    assert topology.llc_bytes == 36608 * 2**10
    assert topology.matrix_units
    assert topology.cpus == tuple(sorted(os.sched_getaffinity(0)))


def test_a_last_level_is_never_counted_as_a_near_one_too(tmp_path: Path) -> None:
    topology = read_topology(*host(tmp_path, CACHES[:3], "CPU part\t: 0xd01\nFeatures\t: fp asimd\n"))
    assert (topology.model, topology.l1_bytes, topology.l2_bytes, topology.llc_bytes) == ("0xd01", 32768, 0, 2**20)
    assert not topology.matrix_units


def test_a_host_that_tells_no_sizes_is_our_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_topology.os, "sysconf_names", {})
    with pytest.raises(InternalError, match="no cache size"):
        read_topology(*host(tmp_path, [], ""))


def test_this_host_has_a_topology() -> None:
    topology = read_topology()
    assert topology.cpus
    assert topology.llc_bytes > topology.l2_bytes >= topology.l1_bytes >= 0
