"""The box in which a built package runs, and its children."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

from kernel_eval.model import CallSpec
from kernel_eval.runner.conduct import Assignment, CaseChild, checked_order
from kernel_eval.runner.launch import Launch, Terms
from kernel_eval.runner.line import Forked
from kernel_eval.runner.plan import PlanFile, plan_content, table_bytes
from kernel_eval.runner.play import Play
from kernel_eval.runner.pool import Pool
from kernel_eval.runner.process import CaseProcess
from kernel_eval.runner.protocol import Kind, Message, send
from kernel_eval.runner.spares import Spares
from kernel_eval.sandbox.outside import Expected, verify
from kernel_eval.sandbox.policy import GIB
from kernel_eval.settings import Settings

__all__ = ["CaseChild", "RunBox"]

PREPARE_S = 30.0
"""What importing a package, mapping and the warm-up may take."""
SETTLE_S = 5.0
BUNCH = 4
"""Processes that are forked ahead for single plays, and taken up together."""
FEW = 1
"""With no more spare processes than this, the next ones are forked."""
ADDRESS_SPACE_BYTES = 3 * GIB
"""Address space of a case besides its memory limit and its tensors: libraries, stacks, allocator arenas."""


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
        self._terms = Terms(package_dir, settings, memory_bytes, trusted, passive_threads, environment)
        self._launch = Launch(self._terms)
        self._prepare_limit_s = prepare_limit_s
        self._stack = contextlib.ExitStack()
        self._spares = Spares(self._fork, self._meet)
        self._children: set[CaseChild] = set()

    def __enter__(self) -> RunBox:
        """Start the zygote; its import of torch goes on while the caller does something else."""
        self._stack.enter_context(self._launch)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Kill everything in the box and free it."""
        with self._stack:
            for child in tuple(self._children):
                self._stack.callback(child.close)
            self._stack.callback(self._spares.close)

    def _fork(self) -> Forked:
        link, job = self._launch.link(), self._launch.job
        self._refuse_if_changed()
        number = link.next_number()
        leaf = job.borrow(self._terms.limits) if job else None
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
        self._give_back(forked)

    def _give_back(self, forked: Forked) -> None:
        if self._launch.job is not None and forked.leaf is not None:
            self._launch.job.give_back(forked.leaf)

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
        address = ADDRESS_SPACE_BYTES + self._terms.memory_bytes + inputs.length + outputs.length
        content = plan_content(
            layout,
            places,
            warmup,
            (inputs, outputs),
            0 if fresh else outputs.start,
            address if self._terms.settings.sandboxed else 0,
        )
        plan = PlanFile(content, table_bytes(layout, len(calls)))
        return Assignment(pool, pool.layout, calls, warmup > 0, plan, fresh)

    def _adopt(self, forked: Forked, process: CaseProcess, assigned: Assignment) -> CaseChild:
        link = self._launch.link()

        def bury() -> None:
            self._children.discard(child)
            self._zygote_fault()
            link.forget(forked.number)
            for space in self._launch.spaces:
                space.wipe(forked.uid)
            self._give_back(forked)

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
        watch = self._launch.watch
        return watch.fault() if watch is not None else ""

    def _refuse_if_changed(self) -> None:
        """A box whose zygote an earlier case has changed is used no more, nor are processes that were forked before."""
        if self._launch.watch is not None:
            self._launch.watch.refuse_if_changed()

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
