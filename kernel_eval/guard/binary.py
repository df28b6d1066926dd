"""Binary scan: what the built libraries call. A hint only."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from kernel_eval.guard.elf import elf_names, is_elf
from kernel_eval.model import Flag, FlagId, Severity

LARGEST_BYTES = 256 << 20
MOST_NAMES = 20

ALLOCATION = re.compile(
    r"empty|resize|zeros|ones|full|view|reshape|size|stride|contiguous|alias|detach|_to_copy|item|slice|select|narrow"
)
LIBRARY_OPERATOR = re.compile(r"^_ZN2at(?:4_ops)?\d+(?P<name>[a-z_]\w*?)(?:\d+\w*)?E")
KINDS: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        "loader": re.compile(r"^dl(m?open|v?sym)$"),
        "process": re.compile(r"^(v?fork|clone|exec\w+|posix_spawnp?|ptrace|process_vm_\w+|kill|system|popen)$"),
        "network": re.compile(r"^(socket|connect|bind|getaddrinfo)$"),
        "clock": re.compile(r"^(clock_settime|settimeofday|adjtimex)$"),
        "memory": re.compile(r"^(memfd_create|mremap|userfaultfd)$"),
    }
)


def scan_binaries(package_dir: Path) -> Iterator[Flag]:
    """One `binary_hint` per kind of undefined symbol, per library of the package."""
    for path in sorted(package_dir.rglob("*")):
        if path.is_symlink() or not path.is_file() or path.stat().st_size > LARGEST_BYTES:
            continue
        data = path.read_bytes()
        if is_elf(data):
            yield from _hints(str(path.relative_to(package_dir)), data)


def _hints(name: str, data: bytes) -> Iterator[Flag]:
    found: dict[str, list[str]] = {}
    for symbol in sorted(elf_names(data).undefined):
        kind = _kind(symbol)
        if kind:
            found.setdefault(kind, []).append(symbol)
    for kind, symbols in found.items():
        message = f"{name} calls {kind}: {', '.join(symbols[:3])}"[:500]
        evidence = {"library": name, "kind": kind, "symbols": symbols[:MOST_NAMES]}
        yield Flag(FlagId.BINARY_HINT, Severity.NOTE, "", None, message, evidence)


def _kind(symbol: str) -> str | None:
    """The kind of a symbol worth a look; allocation and metadata operators are not."""
    for kind, pattern in KINDS.items():
        if pattern.match(symbol):
            return kind
    library = LIBRARY_OPERATOR.match(symbol)
    if library and symbol.startswith("_ZN2at4_ops") and not ALLOCATION.search(library["name"]):
        return "library operator"
    return None
