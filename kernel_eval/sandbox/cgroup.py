"""One control group per job, with one leaf per process of ours beside each other."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from kernel_eval.errors import InternalError, SandboxIncomplete
from kernel_eval.sandbox.hierarchy import Hierarchy, find_hierarchy
from kernel_eval.sandbox.kernel_files import read_file, write_file
from kernel_eval.sandbox.policy import BoxLimits
from kernel_eval.sandbox.rootless import rootless

PREFIX = "hapboard"
CPU_PERIOD_US = 100_000
REMOVAL_S = 30.0


def _start_time(pid: int) -> str:
    """When a process started, in clock ticks since boot; empty where there is none."""
    try:
        return read_file(f"/proc/{pid}/stat").rpartition(")")[2].split()[19]
    except OSError:
        return ""


def _namespace() -> str:
    """Number of this process's pid namespace, without which a pid names nobody."""
    return re.sub(r"\D", "", os.readlink("/proc/self/ns/pid"))


def _write(folder: Path, file: str, value: object) -> None:
    try:
        write_file(f"{folder}/{file}", value)
    except OSError as error:
        raise SandboxIncomplete(f"cgroup {file}", f"Writing {value} to {folder / file} failed ({error}).") from error


def _write_if_there(folder: Path, file: str, value: object) -> None:
    if (folder / file).exists():
        _write(folder, file, value)


def _remove(folder: Path) -> None:
    """Remove an empty group; the kernel may need a moment after the last process died."""
    deadline = time.monotonic() + REMOVAL_S
    while True:
        try:
            return folder.rmdir()
        except FileNotFoundError:
            return None
        except OSError as error:
            if time.monotonic() > deadline:
                raise InternalError(f"control group {folder} cannot be removed: {error}") from error
            time.sleep(0.001)


@dataclass(frozen=True)
class Leaf:
    """A group that holds processes, on every hierarchy in use."""

    hierarchy: Hierarchy
    name: str

    @cached_property
    def kill_folder(self) -> Path:
        """Its folder on v2."""
        return self.hierarchy.kill / self.name

    @cached_property
    def folders(self) -> tuple[Path, ...]:
        """Its folder on each hierarchy."""
        return tuple(root / self.name for root in self.hierarchy.roots)

    def _of(self, controller: str) -> Path:
        try:
            return self.hierarchy.controllers[controller] / self.name
        except KeyError as error:
            raise SandboxIncomplete(f"cgroup controller {controller}", "Enable it at boot.") from error

    def limit(self, limits: BoxLimits) -> None:
        """Set the most memory, processes and cores that the leaf may use."""
        memory = self._of("memory")
        if self.hierarchy.unified:
            _write(memory, "memory.max", limits.memory_bytes)
            _write_if_there(memory, "memory.swap.max", 0)
            _write_if_there(memory, "memory.oom.group", 1)
        else:
            _write(memory, "memory.limit_in_bytes", limits.memory_bytes)
            _write_if_there(memory, "memory.memsw.limit_in_bytes", limits.memory_bytes)
        _write(self._of("pids"), "pids.max", limits.processes)
        if limits.cores:
            self._limit_cores(self._of("cpu"), limits.cores)

    def _limit_cores(self, folder: Path, cores: float) -> None:
        quota = int(cores * CPU_PERIOD_US)
        if self.hierarchy.unified:
            _write(folder, "cpu.max", f"{quota} {CPU_PERIOD_US}")
        else:
            _write(folder, "cpu.cfs_quota_us", quota)

    def move(self, pid: int) -> None:
        """Put a process into the leaf."""
        for folder in self.folders:
            _write(folder, "cgroup.procs", pid)

    def pids(self) -> list[int]:
        """Processes in the leaf."""
        return [int(pid) for pid in read_file(f"{self.kill_folder}/cgroup.procs").split()]

    def kill(self) -> None:
        """Kill everything in the leaf, without waiting for it."""
        _write(self.kill_folder, "cgroup.kill", 1)

    def out_of_memory(self) -> bool:
        """Whether the kernel killed something here for want of memory."""
        file = "memory.events" if self.hierarchy.unified else "memory.oom_control"
        lines = read_file(f"{self._of('memory')}/{file}").splitlines()
        return any(words[0] == "oom_kill" and int(words[1]) > 0 for words in map(str.split, lines))

    def make(self) -> None:
        """Create it on every hierarchy."""
        for folder in self.folders:
            try:
                folder.mkdir()
            except OSError as error:
                raise SandboxIncomplete(
                    "cgroup", f"Creating {folder} failed ({error}); the group above it must be the judge's."
                ) from error

    def remove(self) -> None:
        """Remove it; whatever still lives in it is killed first."""
        if self.kill_folder.exists():
            self.kill()
        for folder in self.folders:
            _remove(folder)


class Job:
    """The group of one box. `leaf` makes groups in it; `close` kills and removes everything."""

    def __init__(self, hierarchy: Hierarchy | None = None, *, cores: bool = True) -> None:
        """`cores` False spares the controller of cores, where no leaf limits them."""
        found = hierarchy or find_hierarchy()
        self.hierarchy = found if cores else found.without("cpu")
        pid = os.getpid()
        self.name = f"{PREFIX}-{_namespace()}-{pid}-{_start_time(pid)}-{secrets.token_hex(4)}"
        self._count = itertools.count()
        self._top = Leaf(self.hierarchy, self.name)
        self._leaves: dict[str, Leaf] = {}
        self._idle: list[Leaf] = []
        self._top.make()
        if self.hierarchy.unified:
            _write(
                self._top.kill_folder, "cgroup.subtree_control", " ".join(f"+{n}" for n in self.hierarchy.controllers)
            )

    def leaf(self, name: str, limits: BoxLimits) -> Leaf:
        """A new group of that name with its limits set."""
        made = Leaf(self.hierarchy, f"{self.name}/{name}")
        self._leaves[made.name] = made
        made.make()
        made.limit(limits)
        return made

    def borrow(self, limits: BoxLimits) -> Leaf:
        """An empty leaf for one case: one that was given back, else a new one. All have the same `limits`."""
        return self._idle.pop() if self._idle else self.leaf(f"case-{next(self._count)}", limits)

    def give_back(self, leaf: Leaf) -> None:
        """Take back a leaf whose case is dead; one in which anything still lives, or ran out of memory, is removed."""
        if leaf.pids() or leaf.out_of_memory():
            leaf.remove()
            del self._leaves[leaf.name]
        else:
            self._idle.append(leaf)

    def close(self) -> None:
        """Kill everything of the job and remove its groups."""
        if self._top.kill_folder.exists():
            self._top.kill()
        for leaf in self._leaves.values():
            leaf.remove()
        self._top.remove()


def _may_sweep(job: Path) -> bool:
    """A judge without root leaves alone what is not its user's."""
    return not rootless() or job.stat().st_uid == os.geteuid()


def _owner_lives(name: str) -> bool:
    """Whether the judge that made a job's group still runs; True for names of another namespace."""
    _, namespace, pid, started, _ = name.split("-")
    return namespace != _namespace() or _start_time(int(pid)) == started


def sweep_orphans(hierarchy: Hierarchy | None = None) -> list[str]:
    """Kill and remove the jobs whose judge died without closing them; returns their names.

    Looks in the whole mounted trees, since a judge may have run in another group than this one.
    """
    place = hierarchy or find_hierarchy()
    swept = set()
    for tree in dict.fromkeys(map(_mount_point, place.roots)):  # the one for killing first, or the others stay busy
        for job in _jobs_below(tree):
            if not _owner_lives(job.name) and _may_sweep(job):
                _remove_tree(job)
                swept.add(job.name)
    return sorted(swept)


def _jobs_below(tree: Path) -> Iterator[Path]:
    """The groups of jobs in a mounted tree, whoever made them."""
    pattern = re.compile(rf"{PREFIX}-\d+-\d+-\d+-[0-9a-f]{{8}}")
    for folder, names, _ in os.walk(tree):
        for name in [name for name in names if pattern.fullmatch(name)]:
            names.remove(name)
            yield Path(folder, name)


def _mount_point(folder: Path) -> Path:
    return next(place for place in (folder, *folder.parents) if place.is_mount())


def _remove_tree(job: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        if (job / "cgroup.kill").exists():
            _write(job, "cgroup.kill", 1)
    for folder, _, _ in os.walk(job, topdown=False):
        _remove(Path(folder))
