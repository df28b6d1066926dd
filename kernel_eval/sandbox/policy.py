"""What a box may see, use and be, as data. Pure: touches no file and starts nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

MIB = 1 << 20
GIB = 1 << 30


@dataclass(frozen=True)
class Bind:
    """A host path shown read-only at `target` in the box."""

    source: Path
    target: Path


@dataclass(frozen=True)
class Tmpfs:
    """A writable in-memory folder of at most `size_bytes`; its use counts as the box's memory."""

    target: Path
    size_bytes: int


@dataclass(frozen=True)
class BoxLimits:
    """What a box may use at most. `cores` 0 means no quota; bytes are bytes."""

    memory_bytes: int
    processes: int
    file_bytes: int
    open_files: int = 1024
    cores: int = 0


@dataclass(frozen=True)
class RunPolicy:
    """The box in which a built package runs: no compiler, no writable folder but sized tmpfs."""

    binds: tuple[Bind, ...]
    limits: BoxLimits
    environment: Mapping[str, str]
    tmpfs: tuple[Tmpfs, ...] = (Tmpfs(Path("/tmp"), 256 * MIB), Tmpfs(Path("/dev/shm"), 64 * MIB))
    work_dir: Path = Path("/tmp")


@dataclass(frozen=True)
class BuildPolicy:
    """The box in which a submission is built: compiler, no device, no network, its own workspace at `work_dir`."""

    binds: tuple[Bind, ...]
    limits: BoxLimits = field(default_factory=lambda: BoxLimits(6 * GIB, 256, 2 * GIB))
    environment: Mapping[str, str] = field(default_factory=dict)
    tmpfs: tuple[Tmpfs, ...] = (Tmpfs(Path("/tmp"), GIB), Tmpfs(Path("/dev/shm"), 64 * MIB))
    work_dir: Path = Path("/work")
