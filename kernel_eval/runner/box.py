"""The box in which a built package runs, and its children."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

from kernel_eval.errors import InternalError, SandboxIncomplete
from kernel_eval.model import CallSpec
from kernel_eval.runner.arena_build import arena_library
from kernel_eval.runner.conduct import Assignment, CaseChild, checked_order
from kernel_eval.runner.line import Forked, ZygoteLink
from kernel_eval.runner.plan import PlanFile, plan_content, table_bytes
from kernel_eval.runner.play import Play
from kernel_eval.runner.pool import Pool
from kernel_eval.runner.process import CaseProcess
from kernel_eval.runner.protocol import MESSAGE_BYTES, Kind, Malformed, Message, send, unpack
from kernel_eval.runner.spares import Spares
from kernel_eval.runner.unboxed import Unboxed
from kernel_eval.runner.watch import Watch
from kernel_eval.sandbox import seccomp
from kernel_eval.sandbox.box import INSIDE, open_up
from kernel_eval.sandbox.boxed import Boxed, BoxPlan, make_tmpfs
from kernel_eval.sandbox.cgroup import Job, Leaf
from kernel_eval.sandbox.host import run_policy
from kernel_eval.sandbox.outside import Expected, verify
from kernel_eval.sandbox.policy import GIB, MIB, Bind, BoxLimits, RunPolicy, run_environment
from kernel_eval.sandbox.priority import favour
from kernel_eval.sandbox.rootless import rootless
from kernel_eval.sandbox.seccomp_rootless import rootless_case_filter
from kernel_eval.sandbox.workspace import Workspace
from kernel_eval.settings import Settings

__all__ = ["CaseChild", "RunBox"]

PREPARE_S = 30.0
"""What importing a package, mapping and the warm-up may take."""
SETTLE_S = 5.0
PROCESSES = 256
"""Threads of one case at most."""
BUNCH = 4
"""Processes that are forked ahead for single plays, and taken up together."""
FEW = 1
"""With no more spare processes than this, the next ones are forked."""
FILE_BYTES = 512 * MIB
ADDRESS_SPACE_BYTES = 3 * GIB
"""Address space of a case besides its memory limit and its tensors: libraries, stacks, allocator arenas."""
CODE = INSIDE / "code"
INSIDE_MODULES = (
    "__init__.py", "runner/__init__.py", "runner/start.py", "runner/zygote.py", "runner/zygote_memory.py",
    "runner/child.py", "runner/child_arena.py", "runner/child_claims.py", "runner/child_interfaces.py",
    "runner/child_memory.py", "runner/child_modules.py", "runner/protocol.py", "device/__init__.py", "device/cpu.py",
    "sandbox/__init__.py", "sandbox/confine.py",
)  # fmt: skip
"""All of the project's files that a run box sees."""


def _code_binds(home: Path) -> tuple[Bind, ...]:
    return tuple(Bind(home / name, CODE / home.name / name) for name in INSIDE_MODULES)


def _case_filter() -> bytes:
    return rootless_case_filter() if rootless() else seccomp.case_filter()


class RunBox:
    """Sandboxed zygote for one package; forks a child per play. Use as a context manager, from one thread.

    Raises `SandboxIncomplete` where a part of the sandbox is missing.
    """

    def __init__(
        self,
        package_dir: Path,
        settings: Settings,
        *,
        memory_bytes: int,
        trusted: bool = False,
        passive_threads: bool = False,
        prepare_limit_s: float = PREPARE_S,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """`package_dir` holds `cann_bench`; each case may use `memory_bytes` besides the pool.

        `trusted`: the package is our own, and the zygote imports it once for all processes.

        `passive_threads` lets OpenMP threads sleep instead of spin: to look at work after "done", never for
        times. `prepare_limit_s` is what import and warm-up of one child may take. `environment` comes on top of
        the box's own.
        """
        self._package_dir, self._settings = package_dir, settings
        self._memory_bytes = memory_bytes
        self._trusted = trusted
        self._passive_threads = passive_threads
        self._prepare_limit_s = prepare_limit_s
        self._environment = dict(environment or {})
        self._stack = contextlib.ExitStack()
        self._job: Job | None = None
        self._zygote_leaf: Leaf | None = None
        self._spaces: tuple[Workspace, ...] = ()
        self._box: Boxed | Unboxed | None = None
        self._link: ZygoteLink | None = None
        self._watch: Watch | None = None
        self._spares = Spares(self._fork, self._meet)
        self._children: set[CaseChild] = set()

    def __enter__(self) -> RunBox:
        """Start the zygote; its import of torch goes on while the caller does something else."""
        try:
            arena = arena_library(self._settings.cache_dir)
            self._box = self._launch_boxed(arena) if self._settings.sandboxed else self._launch_plain(arena)
            self._stack.callback(self._box.close)
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Kill everything in the box and free it."""
        with self._stack:
            for child in tuple(self._children):
                self._stack.callback(child.close)
            self._stack.callback(self._spares.close)

    def _limits(self) -> BoxLimits:
        """What a case may use: fewer cores than the host has are enforced, all of them need no limit."""
        threads = self._settings.threads
        cores = threads if threads < (os.cpu_count() or threads) else 0
        return BoxLimits(self._memory_bytes, PROCESSES, FILE_BYTES, cores=cores)

    def _command(self, start: Path, package: Path, arena: Path) -> list[str]:
        document = {
            "package_dir": str(package),
            "arena": str(arena),
            "threads": self._settings.threads,
            "filter": _case_filter().hex() if self._settings.sandboxed else "",
            "confined": self._settings.sandboxed,
            "closed": self._settings.sandboxed and rootless(),
            "preloaded": self._trusted,
        }
        return [sys.executable, "-I", "-B", str(start), "{socket}", json.dumps(document)]

    def _launch_boxed(self, arena: Path) -> Boxed:
        home = Path(__file__).parent.parent
        package, library = INSIDE / "package", INSIDE / "arena.so"
        open_up(self._package_dir)
        binds = (*_code_binds(home), Bind(self._package_dir.resolve(), package), Bind(arena.resolve(), library))
        policy = run_policy(self._limits(), self._settings.threads, binds, passive_threads=self._passive_threads)
        self._job = Job(cores=self._limits().cores > 0)
        self._stack.callback(self._job.close)
        self._zygote_leaf = self._job.leaf("zyg", BoxLimits(policy.zygote_memory_bytes, PROCESSES, FILE_BYTES))
        plan = self._plan(policy, self._zygote_leaf)
        return Boxed(plan, self._command(CODE / home.name / "runner" / "start.py", package, library))

    def _plan(self, policy: RunPolicy, leaf: Leaf) -> BoxPlan:
        mounts = make_tmpfs(policy.tmpfs)
        for space in mounts.values():
            self._stack.callback(space.close)
        self._spaces = tuple(mounts.values())
        return BoxPlan(
            policy.binds, {**policy.environment, **self._environment}, policy.work_dir, policy.limits, leaf, mounts
        )

    def _launch_plain(self, arena: Path) -> Unboxed:
        start = Path(__file__).with_name("start.py")
        environment = run_environment(self._settings.threads, passive_threads=self._passive_threads)
        command = self._command(start, self._package_dir.resolve(), arena)
        return Unboxed(command, {**environment, **self._environment})

    def _zygote(self) -> ZygoteLink:
        """The line to the zygote, once it has announced itself and was looked at from outside."""
        if self._link is None:
            if self._box is None:
                raise InternalError("a run box is used outside its context")
            data, pid = self._box.greet(MESSAGE_BYTES + 1)
            try:
                greeting = unpack(data)
            except Malformed as error:
                raise SandboxIncomplete("zygote", f"It greets with {error}.") from error
            if greeting.kind is not Kind.ZYGOTE_READY:
                raise SandboxIncomplete("zygote", f"It greets with {greeting.kind.name}.")
            if self._zygote_leaf is not None:
                verify(pid, Expected(self._zygote_leaf, threads=1), "the zygote")
                favour(pid)
                if rootless():
                    box = self._box
                    self._watch = Watch(pid, lambda: isinstance(box, Boxed) and box.poll() is not None)
            self._link = ZygoteLink(self._box.channel, PROCESSES)
        return self._link

    def _fork(self) -> Forked:
        link = self._zygote()
        self._refuse_if_changed()
        number = link.next_number()
        leaf = self._job.borrow(self._limits()) if self._job else None
        return link.fork(number, leaf)

    def _meet(self, forked: Forked) -> CaseProcess:
        """The forked process, in its own group and looked at from outside, before it gets anything.

        One that is not as planned is killed; then `SandboxIncomplete` or `InternalError` is raised.
        """
        process = None
        try:
            process = forked.meet()
            if forked.leaf is not None:
                forked.leaf.move(process.pid)
                verify(process.pid, Expected(forked.leaf, forked.uid, filters=2, threads=1), "a case")
        except BaseException:
            self._discard(forked, process)
            raise
        return process

    def _discard(self, forked: Forked, process: CaseProcess | None) -> None:
        """End a process that never became a child; closing its line ends it even where its pid is not known."""
        if process is not None:
            with contextlib.suppress(OSError):
                signal.pidfd_send_signal(process.descriptor, signal.SIGKILL)
            process.close()
        forked.close()
        if self._job is not None and forked.leaf is not None:
            self._job.give_back(forked.leaf)

    def spawn(self, call: CallSpec, pool: Pool, order: Sequence[int], warmup: int) -> CaseChild:
        """Like `begin`, but returns when the child stands prepared and stopped, or has failed."""
        child = self.begin(call, pool, order, warmup)
        child.ready()
        return child

    def begin(self, call: CallSpec, pool: Pool, order: Sequence[int], warmup: int) -> CaseChild:
        """Fork a child that will call the operator once per buffer in `order`, after `warmup` calls on the
        pool's warm-up buffer. Any number of prepared children may stand stopped side by side.

        Returns at once; `CaseChild.ready` waits until it stands prepared. No more should prepare themselves at a time
        than there are cores: children that warm up spin for them. Several in a row come quicker after `bring_ahead`.
        The pool must be laid out for the same arguments and results as `call`.
        """
        return self._begin(call, pool, order, warmup, single=False)

    def begin_play(self, call: CallSpec, pool: Pool, index: int) -> CaseChild:
        """Fork a child for one call on buffer `index`, whose inputs are written already, without warm-up.

        Returns at once. Outputs below 16 MiB are sealed before they may be read.
        """
        return self._begin(call, pool, (index,), 0, single=True)

    def play(self, call: CallSpec, pool: Pool, index: int, limit_s: float) -> Play:
        """One call on buffer `index` from beginning to end."""
        child = self.begin_play(call, pool, index)
        try:
            return child.ready().failure or child.run(limit_s)
        finally:
            child.close()

    def _begin(self, call: CallSpec, pool: Pool, order: Sequence[int], warmup: int, *, single: bool) -> CaseChild:
        self._refuse_if_changed()
        assigned = self._assignment(call, pool, order, warmup, single=single)
        try:
            forked, process = self._spares.take()
        except BaseException:
            assigned.close()
            raise
        child = self._adopt(forked, process, assigned)
        outputs = assigned.fresh[0].shared if assigned.fresh else pool.output_descriptor
        with contextlib.suppress(OSError):  # a process that died meanwhile is seen by `ready`
            message = Message(Kind.PLAN, (assigned.plan.length,))
            send(forked.channel, message, (assigned.plan.descriptor, pool.input_descriptor, outputs))
        if single and len(self._spares) <= FEW:
            self._spares.request(BUNCH)
        return child

    def _assignment(self, call: CallSpec, pool: Pool, order: Sequence[int], warmup: int, *, single: bool) -> Assignment:
        layout = pool.layout.for_call(call)
        calls = checked_order(layout, order)
        places = [pool.place(index) for index in calls]
        touched = [*places, layout.warmup_index] if warmup else places
        inputs, outputs = layout.window(layout.inputs, touched), layout.window(layout.outputs, touched)
        fresh = pool.fresh_outputs(calls[0]) if single else None
        address = ADDRESS_SPACE_BYTES + self._memory_bytes + inputs.length + outputs.length
        content = plan_content(
            layout,
            places,
            warmup,
            (inputs, outputs),
            0 if fresh else outputs.start,
            address if self._settings.sandboxed else 0,
        )
        plan = PlanFile(content, table_bytes(layout, len(calls)))
        return Assignment(pool, pool.layout, calls, warmup > 0, plan, fresh)

    def _adopt(self, forked: Forked, process: CaseProcess, assigned: Assignment) -> CaseChild:
        link = self._zygote()

        def bury() -> None:
            self._children.discard(child)
            self._zygote_fault()
            link.forget(forked.number)
            for space in self._spaces:
                space.wipe(forked.uid)
            if self._job is not None and forked.leaf is not None:
                self._job.give_back(forked.leaf)

        child = CaseChild(
            forked,
            process,
            assigned,
            self._prepare_limit_s,
            lambda: link.exit_status(forked.number),
            bury,
            self.settle,
            self._spares.meet_if_there,
            self._zygote_fault,
        )
        self._children.add(child)
        return child

    def _zygote_fault(self) -> str:
        """What a case did to the zygote, which only one that has its user could; empty where nothing."""
        return self._watch.fault() if self._watch is not None else ""

    def _refuse_if_changed(self) -> None:
        """A box whose zygote an earlier case has changed is used no more, nor are processes that were forked before."""
        if self._watch is not None:
            self._watch.refuse_if_changed()

    def settle(self) -> None:
        """Wait until no fork is under way, so that it disturbs no time."""
        self._spares.settle(SETTLE_S)

    def bring_ahead(self, count: int) -> None:
        """Begin to fork, confine and look at the next `count` children beside the caller, which is quicker than each by
        itself. Those that stand there already can be taken meanwhile."""
        self._spares.bring(count)

    def meet_ahead(self, count: int) -> None:
        """Return when `count` children forked ahead stand there."""
        self._spares.request(count)
        self._spares.meet()
