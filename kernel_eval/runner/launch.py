"""The start of a run box: a zygote behind its walls, looked at from outside before it is told anything."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from kernel_eval.errors import InternalError, SandboxIncomplete
from kernel_eval.runner.arena_build import arena_library
from kernel_eval.runner.line import ZygoteLink
from kernel_eval.runner.protocol import MESSAGE_BYTES, Kind, Malformed, unpack
from kernel_eval.runner.unboxed import Unboxed
from kernel_eval.runner.watch import Watch
from kernel_eval.sandbox import seccomp
from kernel_eval.sandbox.box import INSIDE, open_up
from kernel_eval.sandbox.boxed import Boxed, BoxPlan, make_tmpfs
from kernel_eval.sandbox.cgroup import Job, Leaf
from kernel_eval.sandbox.host import run_policy
from kernel_eval.sandbox.outside import Expected, verify
from kernel_eval.sandbox.policy import MIB, Bind, BoxLimits, RunPolicy, run_environment
from kernel_eval.sandbox.priority import favour
from kernel_eval.sandbox.rootless import rootless
from kernel_eval.sandbox.seccomp_rootless import rootless_case_filter
from kernel_eval.sandbox.workspace import Workspace
from kernel_eval.settings import Settings

PROCESSES = 256
"""Threads of one case at most."""
FILE_BYTES = 512 * MIB
CODE = INSIDE / "code"
INSIDE_MODULES = (
    "__init__.py", "runner/__init__.py", "runner/start.py", "runner/zygote.py", "runner/zygote_memory.py",
    "runner/child.py", "runner/child_arena.py", "runner/child_claims.py", "runner/child_interfaces.py",
    "runner/child_memory.py", "runner/child_modules.py", "runner/protocol.py", "device/__init__.py", "device/cpu.py",
    "sandbox/__init__.py", "sandbox/confine.py",
)  # fmt: skip
"""All of the project's files that a run box sees."""


@dataclass(frozen=True)
class Terms:
    """On what terms a package runs.

    `package_dir` holds `cann_bench`; each case may use `memory_bytes` besides the pool. `trusted`: the package is our
    own, and the zygote imports it once for all processes. `passive_threads` lets OpenMP threads sleep instead of spin.
    `environment` comes on top of the box's own.
    """

    package_dir: Path
    settings: Settings
    memory_bytes: int
    trusted: bool = False
    passive_threads: bool = False
    environment: Mapping[str, str] | None = None

    @property
    def limits(self) -> BoxLimits:
        """What a case may use: fewer cores than the host has are enforced, all of them need no limit."""
        threads = self.settings.threads
        cores = threads if threads < (os.cpu_count() or threads) else 0
        return BoxLimits(self.memory_bytes, PROCESSES, FILE_BYTES, cores=cores)


class Launch:
    """The zygote of a run box and what it stands on: control groups, work spaces, its line. A context manager.

    `job`, `zygote_leaf` and `spaces` are None or empty for a person's own code outside a sandbox.
    """

    def __init__(self, terms: Terms) -> None:
        """Starts nothing yet."""
        self._terms = terms
        self._stack = contextlib.ExitStack()
        self._box: Boxed | Unboxed | None = None
        self._link: ZygoteLink | None = None
        self.job: Job | None = None
        self.zygote_leaf: Leaf | None = None
        self.spaces: tuple[Workspace, ...] = ()
        self.watch: Watch | None = None

    def __enter__(self) -> Launch:
        """Start the zygote; its import of torch goes on while the caller does something else."""
        try:
            arena = arena_library(self._terms.settings.cache_dir)
            self._box = self._boxed(arena) if self._terms.settings.sandboxed else self._plain(arena)
            self._stack.callback(self._box.close)
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Kill the zygote and everything beside it, and free what it stood on."""
        self._stack.close()

    def link(self) -> ZygoteLink:
        """The line to the zygote, once it has announced itself and was looked at from outside."""
        if self._link is None:
            if self._box is None:
                raise InternalError("a run box is used outside its context")
            pid = _greeted(self._box)
            if self.zygote_leaf is not None:
                verify(pid, Expected(self.zygote_leaf, threads=1), "the zygote")
                favour(pid)
                if rootless():
                    box = self._box
                    self.watch = Watch(pid, lambda: isinstance(box, Boxed) and box.poll() is not None)
            self._link = ZygoteLink(self._box.channel, PROCESSES)
        return self._link

    def _command(self, start: Path, package: Path, arena: Path) -> list[str]:
        settings = self._terms.settings
        document = {
            "package_dir": str(package),
            "arena": str(arena),
            "threads": settings.threads,
            "filter": _case_filter().hex() if settings.sandboxed else "",
            "confined": settings.sandboxed,
            "closed": settings.sandboxed and rootless(),
            "preloaded": self._terms.trusted,
        }
        return [sys.executable, "-I", "-B", str(start), "{socket}", json.dumps(document)]

    def _boxed(self, arena: Path) -> Boxed:
        terms, home = self._terms, Path(__file__).parent.parent
        package, library = INSIDE / "package", INSIDE / "arena.so"
        open_up(terms.package_dir)
        binds = (*_code_binds(home), Bind(terms.package_dir.resolve(), package), Bind(arena.resolve(), library))
        policy = run_policy(terms.limits, terms.settings.threads, binds, passive_threads=terms.passive_threads)
        self.job = Job(cores=terms.limits.cores > 0)
        self._stack.callback(self.job.close)
        self.zygote_leaf = self.job.leaf("zyg", BoxLimits(policy.zygote_memory_bytes, PROCESSES, FILE_BYTES))
        plan = self._plan(policy, self.zygote_leaf)
        return Boxed(plan, self._command(CODE / home.name / "runner" / "start.py", package, library))

    def _plan(self, policy: RunPolicy, leaf: Leaf) -> BoxPlan:
        mounts = make_tmpfs(policy.tmpfs)
        for space in mounts.values():
            self._stack.callback(space.close)
        self.spaces = tuple(mounts.values())
        environment = {**policy.environment, **(self._terms.environment or {})}
        return BoxPlan(policy.binds, environment, policy.work_dir, policy.limits, leaf, mounts)

    def _plain(self, arena: Path) -> Unboxed:
        terms, start = self._terms, Path(__file__).with_name("start.py")
        environment = run_environment(terms.settings.threads, passive_threads=terms.passive_threads)
        command = self._command(start, terms.package_dir.resolve(), arena)
        return Unboxed(command, {**environment, **(terms.environment or {})})


def _code_binds(home: Path) -> tuple[Bind, ...]:
    return tuple(Bind(home / name, CODE / home.name / name) for name in INSIDE_MODULES)


def _case_filter() -> bytes:
    return rootless_case_filter() if rootless() else seccomp.case_filter()


def _greeted(box: Boxed | Unboxed) -> int:
    """The zygote's process id, by its greeting. Raises `SandboxIncomplete` where that is none."""
    data, pid = box.greet(MESSAGE_BYTES + 1)
    try:
        greeting = unpack(data)
    except Malformed as error:
        raise SandboxIncomplete("zygote", f"It greets with {error}.") from error
    if greeting.kind is not Kind.ZYGOTE_READY:
        raise SandboxIncomplete("zygote", f"It greets with {greeting.kind.name}.")
    return pid
