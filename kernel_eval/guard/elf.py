"""Names in the dynamic section of a 64-bit little-endian ELF file: what it needs and what it leaves undefined.

Layouts: System V ABI, "Object Files" (Elf64_Ehdr, Elf64_Shdr, Elf64_Sym, Elf64_Dyn).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

MAGIC = b"\x7fELF\x02\x01"
SECTION = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
DYNAMIC = struct.Struct("<qQ")
SECTION_DYNAMIC, SECTION_DYNSYM = 6, 11
TAG_NEEDED = 1


@dataclass(frozen=True)
class ElfNames:
    """`undefined` symbols (mangled) and `needed` libraries."""

    undefined: frozenset[str]
    needed: tuple[str, ...]


def is_elf(data: bytes) -> bool:
    """Whether the bytes start a 64-bit little-endian ELF file."""
    return data.startswith(MAGIC)


def elf_names(data: bytes) -> ElfNames:
    """The names in `data`. Raises `ValueError` or `struct.error` where the file is broken."""
    if not is_elf(data):
        raise ValueError("not a 64-bit little-endian ELF file")
    sections = _sections(data)
    undefined: set[str] = set()
    needed: list[str] = []
    for kind, offset, size, link in sections:
        if kind not in (SECTION_DYNSYM, SECTION_DYNAMIC):
            continue
        if link >= len(sections) or offset + size > len(data):
            raise ValueError("a dynamic section points outside the file")
        strings = sections[link][1]
        if kind == SECTION_DYNSYM:
            undefined |= _undefined(data[offset : offset + size], data, strings)
        else:
            needed += _needed(data[offset : offset + size], data, strings)
    return ElfNames(frozenset(undefined), tuple(needed))


def _sections(data: bytes) -> list[tuple[int, int, int, int]]:
    (table,) = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    if size != SECTION.size:
        raise ValueError(f"section headers of {size} bytes")
    headers = (SECTION.unpack_from(data, table + at * size) for at in range(count))
    return [(header[1], header[4], header[5], header[6]) for header in headers]


def _undefined(table: bytes, data: bytes, strings: int) -> set[str]:
    whole = table[: len(table) // SYMBOL.size * SYMBOL.size]
    return {
        _text(data, strings + name) for name, _, _, section, _, _ in SYMBOL.iter_unpack(whole) if name and not section
    }


def _needed(table: bytes, data: bytes, strings: int) -> list[str]:
    whole = table[: len(table) // DYNAMIC.size * DYNAMIC.size]
    return [_text(data, strings + value) for tag, value in DYNAMIC.iter_unpack(whole) if tag == TAG_NEEDED]


def _text(data: bytes, start: int) -> str:
    return data[start : data.index(b"\0", start)].decode("utf-8", "replace")
