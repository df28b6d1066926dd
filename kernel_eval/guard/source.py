"""Source scan: what a reviewer might want to read first. A hint only; names can be hidden or harmless."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from kernel_eval.model import Flag, FlagId, Severity

SUFFIXES = frozenset({".py", ".cpp", ".cc", ".cxx", ".c", ".h", ".hpp", ".cu", ".asc", ".sh", ".cmake", ".txt"})
LARGEST_BYTES = 2 << 20
MOST_FILES = 5_000
MOST_PLACES = 20

PATTERNS: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        "network": re.compile(
            r"\b(socket|urllib|requests|http\.client|curl|wget)\b\s*[.(]|\bimport\s+(socket|requests)"
        ),
        "process": re.compile(r"\b(fork|vfork|execv[pe]*|posix_spawn|ptrace|process_vm_\w+|subprocess|os\.system)\b"),
        "clock": re.compile(r"\b(clock_settime|settimeofday|LD_PRELOAD)\b"),
        "introspection": re.compile(
            r"\b(gc\.get_objects|sys\._getframe|inspect\.stack|/proc/self/(mem|maps)|ctypes)\b"
        ),
        "library operator": re.compile(
            r"\btorch\.nn\.functional\.\w+|\bF\.(gelu|mish|silu|softmax)\b|\bat::(exp|gelu|mish|sigmoid|silu|norm)\w*\s*\("
        ),
        "judge": re.compile(r"\bkernel_eval\b|\bmemfd|F_SEAL_"),
    }
)


def scan_source(source_dir: Path) -> Iterator[Flag]:
    """One `source_hint` per kind of thing found, with the places; text files of at most 2 MiB are read."""
    places: dict[str, list[str]] = {}
    for path in _sources(source_dir):
        text = path.read_text(encoding="utf-8", errors="replace")
        for kind, pattern in PATTERNS.items():
            for match in pattern.finditer(text):
                line = text.count("\n", 0, match.start()) + 1
                places.setdefault(kind, []).append(f"{path.relative_to(source_dir)}:{line}: {match.group(0)}"[:200])
    for kind, found in places.items():
        message = f"{kind}: {len(found)} places, first {found[0]}"
        evidence = {"kind": kind, "places": found[:MOST_PLACES]}
        yield Flag(FlagId.SOURCE_HINT, Severity.NOTE, "", None, message, evidence)


def _sources(source_dir: Path) -> list[Path]:
    found: list[Path] = []
    for path in sorted(source_dir.rglob("*")):
        if path.is_symlink() or not path.is_file() or path.suffix not in SUFFIXES:
            continue
        if path.stat().st_size <= LARGEST_BYTES:
            found.append(path)
        if len(found) == MOST_FILES:
            break
    return found
