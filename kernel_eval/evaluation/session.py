"""What the cases of one evaluation share: boxes, pools, goldens, the timing bench, and who listens."""

from __future__ import annotations

import gc
import os
import random
import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from kernel_eval.cases.decoys import DecoySource
from kernel_eval.errors import EvaluationStopped
from kernel_eval.evaluation.boxes import box_memory_bytes, largest_input_bytes
from kernel_eval.evaluation.calls import call_of
from kernel_eval.evaluation.goldens import Goldens
from kernel_eval.evaluation.imported import ImportedGoldens
from kernel_eval.evaluation.interfaces import Matching
from kernel_eval.golden.baseline import write_baseline_package
from kernel_eval.golden.boxed import GoldenBox
from kernel_eval.golden.cache import GoldenCache
from kernel_eval.golden.foreign_package import write_foreign_package
from kernel_eval.golden.native import NativeRunner
from kernel_eval.hap import CpuPeaks
from kernel_eval.model import AnchorSet, CallSpec, Case, Event, Operator, Suite
from kernel_eval.runner.box import RunBox
from kernel_eval.runner.pool import Pool
from kernel_eval.runner.single_pool import SinglePool
from kernel_eval.sandbox.priority import favoured
from kernel_eval.settings import Settings
from kernel_eval.timing.bench import Bench
from kernel_eval.timing.control import Control
from kernel_eval.timing.overhead import Overheads
from kernel_eval.timing.plan import POOL_BYTES

MIB = 1 << 20
GOLDEN_CACHE_BYTES = 16 << 30
POOL_SLACK_BYTES = 64 * MIB
"""Room for the rounding of many small buffers to whole pages."""
POOLS = 3
"""One for the case that is played, and one for each that is made ready meanwhile."""
PAUSE_S = 0.012
PASSIVE_PAUSE_S = 0.002
"""Rest before a batch. A judge whose thread pools don't spin (`OMP_WAIT_POLICY=passive`) needs less of it."""


@dataclass(frozen=True)
class TimingStand:
    """What only timing needs."""

    bench: Bench
    overheads: Overheads
    decoys: DecoySource
    control: Control


@dataclass(frozen=True)
class Session:
    """An open evaluation. `pools` take turns, so that the next cases are prepared while one is played.

    `stand` is None where no times are taken.
    """

    suite: Suite
    settings: Settings
    peaks: CpuPeaks
    anchors: AnchorSet | None
    candidate: RunBox
    pools: tuple[SinglePool, ...]
    goldens: Goldens | ImportedGoldens
    stand: TimingStand | None
    tell: Callable[[Event], None]
    should_stop: Callable[[], bool]
    matching: Matching | None = None
    """Names of the candidate's functions; None where it has those of the schemas."""

    def call_of(self, operator: Operator, case: Case) -> CallSpec:
        """The call of an operator's case. Raises `GoldenFault`."""
        return call_of(operator, case, self.goldens.results(operator, case))

    def candidate_call(self, operator: Operator, call: CallSpec) -> CallSpec:
        """`call` under the name that the candidate gave to the operator."""
        name = self.matching.functions.get(operator.name) if self.matching else None
        return call if name in (None, call.function) else replace(call, function=name)

    def stop_if_asked(self) -> None:
        """Raise `EvaluationStopped` where the caller wants no more."""
        if self.should_stop():
            raise EvaluationStopped("the evaluation was asked to stop")


@contextmanager
def open_session(
    box: RunBox,
    suite: Suite,
    settings: Settings,
    peaks: CpuPeaks,
    anchors: AnchorSet | None,
    tell: Callable[[Event], None],
    should_stop: Callable[[], bool],
) -> Iterator[Session]:
    """Open all that the candidate's box lacks, and close it at the end. Raises `SandboxIncomplete`."""
    input_bytes = largest_input_bytes(suite)
    capacity_bytes = max(POOL_BYTES, 6 * input_bytes) + POOL_SLACK_BYTES
    with ExitStack() as stack:
        stack.enter_context(_spared_collections())
        if settings.sandboxed:
            stack.enter_context(favoured())
        pools = tuple(SinglePool(capacity_bytes) for _ in range(POOLS))
        for pool in pools:
            stack.callback(pool.close)
        goldens = _goldens(stack, suite, settings, input_bytes)
        stand = None
        if settings.timed:
            timed_pool = Pool(capacity_bytes)
            stack.callback(timed_pool.close)
            stand = stack.enter_context(_timing_stand(suite, settings, box, timed_pool))
        yield Session(suite, settings, peaks, anchors, box, pools, goldens, stand, tell, should_stop)


def _goldens(stack: ExitStack, suite: Suite, settings: Settings, input_bytes: int) -> Goldens | ImportedGoldens:
    """Foreign goldens get a box, ours the judge's own process."""
    cache = GoldenCache(settings.cache_dir / "goldens", GOLDEN_CACHE_BYTES)
    if _is_foreign(suite):
        return ImportedGoldens(suite, cache, stack.enter_context(GoldenBox(suite.operators, settings, input_bytes)))
    return Goldens(suite, cache, stack.enter_context(NativeRunner()))


def _is_foreign(suite: Suite) -> bool:
    return any(operator.foreign is not None for operator in suite.operators)


def _write_baseline(suite: Suite, package: Path) -> None:
    if _is_foreign(suite):
        write_foreign_package(suite.operators, package)
    else:
        write_baseline_package(suite.operators, package)


@contextmanager
def _timing_stand(suite: Suite, settings: Settings, candidate: RunBox, pool: Pool) -> Iterator[TimingStand]:
    package = settings.work_dir / "baseline"
    foreign = _is_foreign(suite)
    _write_baseline(suite, package)
    # A foreign baseline is no part of a trusted box: it is imported by each of its processes, and never unsandboxed.
    around = replace(settings, sandboxed=settings.sandboxed or foreign)
    with RunBox(package, around, memory_bytes=box_memory_bytes(suite), trusted=not foreign) as baseline:
        bench = Bench(
            candidate,
            baseline,
            pool,
            settings.warmup,
            settings.repeat,
            pause_s(),
            random.Random(secrets.token_bytes(32)),
        )
        overheads = Overheads(baseline, pool, settings.warmup)
        yield TimingStand(bench, overheads, DecoySource(), Control(baseline, pool, settings.warmup))


@contextmanager
def _spared_collections() -> Iterator[None]:
    """Keep the garbage collector off the many objects that torch brought: each case would pay for it."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def pause_s() -> float:
    """Seconds of rest before a batch, by the judge's own wait policy."""
    return PASSIVE_PAUSE_S if os.environ.get("OMP_WAIT_POLICY", "").lower() == "passive" else PAUSE_S
