"""What judging costs per small case, outside the golden and the operator's own work, stage by stage.

The trusted baseline package plays the small public cases of one operator. For comparison a bare fork of a
process that has imported torch, with its exit, is timed in the same minute: the ratio says more than
milliseconds on a busy machine. Usage:

    python -m benchmarks.case_overhead [--operator exp] [--rounds 5]
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.support.figures import aim, finish, spread, tell
from kernel_eval.cases.inputs import fill_inputs
from kernel_eval.check import compare_claims, judge_outputs
from kernel_eval.evaluation.calls import call_of
from kernel_eval.golden.baseline import write_baseline_package
from kernel_eval.golden.call import Golden, reference, result_specs, same_precision
from kernel_eval.model import CallSpec, Case, Operator
from kernel_eval.runner.box import RunBox
from kernel_eval.runner.play import Play, PlayStatus
from kernel_eval.runner.pool import Pool
from kernel_eval.settings import Settings
from kernel_eval.suite import default_bench_data, load_suite

SMALL_BYTES = 1 << 16
OVERHEAD_MS = 35.0
LIMIT_S = 30.0
MEMORY_BYTES = 1 << 30
SEED = b"case overhead"
STAGES = ("lay_out_ms", "spawn_ms", "prepare_and_stop_ms", "operator_ms", "kill_and_reap_ms", "compare_ms")
TOTAL, OVERHEAD = "total_ms", "overhead_ms"
"""All in, and all but the operator's own window from "continue" to "done"."""


def small_cases(operator: Operator, cases: tuple[Case, ...]) -> Iterator[tuple[Case, CallSpec]]:
    """Cases whose inputs are small, with their calls."""
    for case in cases:
        call = call_of(operator, case, result_specs(operator, case))
        if sum(tensor.size_bytes for argument in call.arguments for tensor in argument.tensors) <= SMALL_BYTES:
            yield case, call


class Stages:
    """Plays one case at a time and notes when each stage ended."""

    def __init__(self, box: RunBox, pool: Pool, operator: Operator) -> None:
        self._box, self._pool, self._operator = box, pool, operator
        self.samples: dict[str, list[float]] = {name: [] for name in (*STAGES, TOTAL, OVERHEAD)}

    def play(self, case: Case, call: CallSpec) -> None:
        """One case from layout to verdict; filling inputs and the golden do not count."""
        began = time.perf_counter()
        self._pool.lay_out(call, 1)
        laid_out = time.perf_counter()
        fill_inputs(self._operator, case, SEED, 0, self._pool.inputs(0))
        golden = reference(self._operator, case, self._pool.inputs(0))
        filled = time.perf_counter()
        child = self._box.begin_play(call, self._pool, 0)
        spawned = time.perf_counter()
        readiness = child.ready()
        ready = time.perf_counter()
        play = child.run(LIMIT_S)
        ended = time.perf_counter()
        if not readiness.prepared or play.status is not PlayStatus.OK or play.elapsed_ns is None:
            raise RuntimeError(f"{case.key}: {play.status} {play.detail}")
        self._compare(case, golden, play)
        compared = time.perf_counter()
        inside = play.elapsed_ns / 1e9
        stages = (laid_out - began, spawned - filled, ready - spawned, inside, ended - ready - inside, compared - ended)
        for name, seconds in zip(STAGES, stages, strict=True):
            self.samples[name].append(seconds * 1e3)
        self.samples[TOTAL].append(sum(stages) * 1e3)
        self.samples[OVERHEAD].append((sum(stages) - inside) * 1e3)

    def _compare(self, case: Case, golden: Golden, play: Play) -> None:
        wrong = compare_claims(play.claims, golden.results)
        inputs = self._pool.inputs(0)
        found = wrong or judge_outputs(
            self._operator, golden, self._pool.outputs(0), lambda: same_precision(self._operator, case, inputs)
        )
        if not found.accepted:
            raise RuntimeError(f"{case.key}: {found.verdict} {found.message}")


def bare_fork_ms() -> float:
    """Fork of this process, which has imported torch as well, up to its child's death."""
    began = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return (time.perf_counter() - began) * 1e3


def measure(operator_name: str, rounds: int) -> tuple[Stages, list[float], int]:
    """Every small public case of the operator, `rounds` times after a round that does not count."""
    suite = load_suite(default_bench_data(), "cann-bench-small")
    operator = suite.operator(operator_name)
    cases = list(small_cases(operator, suite.cases_of(operator_name)))
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(Path(folder, "work"), Path(folder, "cache"))
        package = Path(folder, "package")
        write_baseline_package([operator], package)
        pool = Pool(1 << 24)
        with RunBox(package, settings, memory_bytes=MEMORY_BYTES) as box:
            forks = []
            for turn in range(rounds + 1):
                tell(f"round {turn} of {rounds}, {len(cases)} cases")
                if turn <= 1:
                    stages = Stages(box, pool, operator)
                for case, call in cases:
                    stages.play(case, call)
                    forks.append(bare_fork_ms())
        pool.close()
    return stages, forks, len(cases)


def main() -> int:
    """Print the figures; 0 where the aim is met."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--operator", default="exp")
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args()
    stages, forks, cases = measure(chosen.operator, chosen.rounds)
    overhead = statistics.median(stages.samples[OVERHEAD])
    return finish(
        "case_overhead",
        {OVERHEAD: aim(overhead, OVERHEAD_MS)},
        operator=chosen.operator,
        cases=cases,
        stages={name: spread(samples) for name, samples in stages.samples.items()},
        bare_fork_ms=spread(forks),
        overhead_to_bare_fork=round(overhead / statistics.median(forks), 2),
    )


if __name__ == "__main__":
    sys.exit(main())
