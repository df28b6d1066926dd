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
    inodes: int = 20_000


@dataclass(frozen=True)
class BoxLimits:
    """What a box may use at most. `cores` 0 means no quota; bytes are bytes."""

    memory_bytes: int
    processes: int
    file_bytes: int
    open_files: int = 1024
    cores: float = 0


@dataclass(frozen=True)
class RunPolicy:
    """The box in which a built package runs: no compiler, nothing writable but sized tmpfs.

    `limits` hold for each case; the box's own zygote has `zygote_memory_bytes`.
    """

    binds: tuple[Bind, ...]
    limits: BoxLimits
    environment: Mapping[str, str]
    tmpfs: tuple[Tmpfs, ...] = (Tmpfs(Path("/tmp"), 256 * MIB), Tmpfs(Path("/dev/shm"), 64 * MIB))
    work_dir: Path = Path("/tmp")
    zygote_memory_bytes: int = GIB


@dataclass(frozen=True)
class BuildPolicy:
    """The box in which a submission is built: compiler, no device, no network, its own workspace at `work_dir`."""

    binds: tuple[Bind, ...]
    limits: BoxLimits = field(default_factory=lambda: BoxLimits(8 * GIB, 512, 2 * GIB))
    environment: Mapping[str, str] = field(default_factory=dict)
    tmpfs: tuple[Tmpfs, ...] = (Tmpfs(Path("/tmp"), 2 * GIB), Tmpfs(Path("/dev/shm"), 64 * MIB))
    work_dir: Path = Path("/build")


BASE_ENVIRONMENT: Mapping[str, str] = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/tmp",
    "TMPDIR": "/tmp",
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
}
"""The allow list of a box's environment; nothing of the judge's own environment is passed on."""


def run_environment(threads: int, *, passive_threads: bool = False) -> dict[str, str]:
    """Environment of a run box with `threads` cores.

    `passive_threads` makes OpenMP threads sleep instead of spin: for looking at work after
    "done", never for timing. OpenBLAS gets one thread, since importing numpy starts them.
    """
    # Tied to its core, an OpenMP thread can't end up behind the thread that spins for it: left alone, the scheduler
    # puts both on one core so often that it is most of the spread between processes.
    policy = {"OMP_WAIT_POLICY": "passive"} if passive_threads else {"OMP_PROC_BIND": "true"}
    count = str(threads)
    return {
        **BASE_ENVIRONMENT,
        "OMP_NUM_THREADS": count,
        "MKL_NUM_THREADS": count,
        "OPENBLAS_NUM_THREADS": "1",
        # Freed memory stays with the process, so that an operator's temporaries cost no page faults after the
        # warm-up: a framework's caching allocator does the same, and faults would dominate the times.
        "MALLOC_MMAP_THRESHOLD_": str(32 * MIB),
        "MALLOC_TRIM_THRESHOLD_": str(16 * GIB),
        **policy,
    }


def build_environment(jobs: int) -> dict[str, str]:
    """Environment of a build box. torch prepends ccache by itself and fails late where it cannot be used."""
    return {
        **BASE_ENVIRONMENT,
        "MAX_JOBS": str(jobs),
        "TORCH_NO_COMPILER_WRAPPER": "1",
        "TORCH_DONT_CHECK_COMPILER_ABI": "1",
    }
