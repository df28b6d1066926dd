"""Whether a built library is for this machine, by its ELF header (System V ABI, "ELF Header")."""

from __future__ import annotations

import platform
import struct
from pathlib import Path

HEADER = struct.Struct("<4sBB10xHH")
MAGIC = b"\x7fELF"
MACHINES = {3: "i386", 40: "arm", 62: "x86_64", 183: "aarch64", 243: "riscv64"}


def foreign_machine(library: Path) -> str | None:
    """What the file is instead of a library for this machine; None where it is one."""
    with library.open("rb") as file:
        head = file.read(HEADER.size)
    if len(head) < HEADER.size or not head.startswith(MAGIC):
        return "no shared library"
    _, _, _, _, machine = HEADER.unpack(head)
    name = MACHINES.get(machine, f"for machine type {machine}")
    return None if name == platform.machine() else f"built for {name}"
