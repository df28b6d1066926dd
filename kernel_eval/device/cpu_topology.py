"""What the operating system tells of the processor: model, cores, cache sizes. Reads files only."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from kernel_eval.errors import InternalError

SYSTEM = Path("/sys/devices/system/cpu")
CPUINFO = Path("/proc/cpuinfo")
MATRIX_FLAGS = frozenset({"amx_tile", "avx512_bf16", "avx512_fp16", "avx_vnni", "i8mm", "bf16", "sme"})
"""Features by which a matrix product can be faster than fused multiply-adds."""


@dataclass(frozen=True)
class Topology:
    """The processor as this process may use it.

    `cpus` are the ids it may run on. `l1_bytes` and `l2_bytes` are one core's
    data caches, 0 where there is none; `llc_bytes` is the last-level cache.
    `matrix_units` tells whether products may run faster than multiply-adds.
    """

    model: str
    cpus: tuple[int, ...]
    l1_bytes: int
    l2_bytes: int
    llc_bytes: int
    matrix_units: bool = False


def read_topology(system: Path = SYSTEM, cpuinfo: Path = CPUINFO) -> Topology:
    """The host's topology; raises `InternalError` where no cache size can be found."""
    sizes = _cache_sizes(system) or _configured_sizes()
    if not sizes:
        raise InternalError(
            f"no cache size found below {system} nor by getconf: limits can't be told apart from caches"
        )
    last = max(sizes)
    return Topology(
        model=_model(cpuinfo),
        cpus=tuple(sorted(os.sched_getaffinity(0))),
        l1_bytes=sizes.get(1, 0) if last > 1 else 0,
        l2_bytes=sizes.get(2, 0) if last > 2 else 0,
        llc_bytes=sizes[last],
        matrix_units=bool(MATRIX_FLAGS & _flags(cpuinfo)),
    )


def _cache_sizes(system: Path) -> dict[int, int]:
    """Bytes of the first core's data and unified caches by level."""
    sizes: dict[int, int] = {}
    for index in sorted(system.glob("cpu0/cache/index*")):
        texts = {name: _text(index / name) for name in ("type", "level", "size")}
        match = re.fullmatch(r"(\d+)([KMG]?)", texts["size"])
        if texts["type"] != "Instruction" and texts["level"].isdigit() and match:
            size = int(match[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[match[2]]
            sizes[int(texts["level"])] = size
    return {level: size for level, size in sizes.items() if size > 0}


def _configured_sizes() -> dict[int, int]:
    names = {1: "SC_LEVEL1_DCACHE_SIZE", 2: "SC_LEVEL2_CACHE_SIZE", 3: "SC_LEVEL3_CACHE_SIZE"}
    known = {level: os.sysconf(name) for level, name in names.items() if name in os.sysconf_names}
    return {level: size for level, size in known.items() if size > 0}


def _model(cpuinfo: Path) -> str:
    text = _text(cpuinfo)
    for key in ("model name", "Model", "CPU part", "Hardware"):
        found = re.search(rf"^{key}\s*:\s*(.+)$", text, re.MULTILINE)
        if found:
            return found[1].strip()
    return os.uname().machine


def _flags(cpuinfo: Path) -> set[str]:
    found = re.search(r"^(?:flags|Features)\s*:\s*(.+)$", _text(cpuinfo), re.MULTILINE)
    return set(found[1].split()) if found else set()


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
