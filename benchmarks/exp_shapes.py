"""The 20 published Exp cases, up to 67 million elements, judged for correctness by `kernel-eval` as anybody calls it.

Shapes, dtypes, attributes and value ranges are read from a file of published figures, which is no part of this
project; without it there is nothing to measure. A suite is made of them in a temporary folder. The candidate is
honest and built beforehand: the C++ example, or PyTorch's own operators. Machine facts that are kept for good (the
probed peaks, the compiled arena) are there beforehand too. What is timed is the whole process `kernel-eval eval
--no-perf`, from its start to its end: loading, sandbox, inputs, goldens, playing, comparing, reports. Cold: the golden
cache is empty. Warm: it holds every golden.

`peak_mib` is the judge's largest resident memory as the kernel counts it (`ru_maxrss`): everything private and every
shared page it has touched, that is inputs and outputs of the cases as well. The candidate's own memory is not the
judge's and is left out. Usage:

    python -m benchmarks.exp_shapes [FIGURES] [--candidate example|torch] [--rounds 3] [--largest ELEMENTS]
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import statistics
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.support.figures import aim, finish, spread, tell
from benchmarks.support.judged import PROJECT, Finished, kernel_eval, ready_source
from kernel_eval.device.cpu_probe import probe
from kernel_eval.hap import save_peaks
from kernel_eval.model import Case, Split, element_count
from kernel_eval.runner.arena_build import arena_library
from kernel_eval.settings import Settings
from kernel_eval.suite import default_bench_data, load_suite
from kernel_eval.suite.imported.values import read_range
from kernel_eval.suite.table import format_table

FIGURES = PROJECT.parent / "shared" / "data" / "reference-figures.json"
OPERATOR, SUITE = "exp", "published-exp"
COLD_S, WARM_S, PEAK_MIB = 15.0, 8.0, 2048.0
DECLARATION = """\
name = "{suite}"
version = "1.0.0"
scale = "small"
seed = "{suite}"

[operators]
L1 = ["{operator}"]
"""


@dataclass(frozen=True)
class Bench:
    """What all rounds share."""

    folder: Path
    source: Path

    @property
    def cache(self) -> Path:
        """The folder of goldens, peaks and the compiled arena."""
        return self.folder / "cache"

    def judge(self) -> Finished:
        """One process from start to end."""
        words = ["eval", "--no-perf", "--suite", SUITE, "--source-dir", self.source, "--cache-dir", self.cache]
        words += ["--bench-data", self.folder / "tasks", "--peaks", self.folder / "peaks.json"]
        words += ["--reports-dir", self.folder / "reports", "--json"]
        return kernel_eval(list(map(str, words)))


def published_cases(path: Path, largest: int) -> tuple[Case, ...]:
    """The Exp cases of the file with at most `largest` elements. Raises `ValueError` where it holds none."""
    entries = json.loads(path.read_text(encoding="utf-8")).get(OPERATOR, ())
    cases = tuple(_case(entry) for entry in entries if math.prod(entry["input_shapes"][0]) <= largest)
    if not cases:
        raise ValueError(f"{path}: holds no case of {OPERATOR}")
    return cases


def _case(entry: dict[str, Any]) -> Case:
    (shape,), (dtype,) = entry["input_shapes"], entry["dtypes"]
    values = (read_range(entry["value_range"], dtype),)
    return Case(OPERATOR, entry["case_id"], Split.PUBLIC, (tuple(shape),), (dtype,), entry["attrs"], values)


def write_tasks(cases: tuple[Case, ...], folder: Path) -> None:
    """A task set with this one suite, its operator that of the project."""
    operator = load_suite(default_bench_data(), "cann-bench-small").operator(OPERATOR)
    target = folder / "level1" / OPERATOR
    shutil.copytree(operator.folder, target)
    (target / "cases_small.csv").write_text(format_table(cases), encoding="utf-8")
    (folder / "suites").mkdir()
    text = DECLARATION.format(suite=SUITE, operator=OPERATOR)
    (folder / "suites" / f"{SUITE}.toml").write_text(text, encoding="utf-8")


def prepare(folder: Path, cases: tuple[Case, ...], *, example: bool) -> Bench:
    """Task set, candidate, peaks and arena."""
    write_tasks(cases, folder / "tasks")
    operator = load_suite(folder / "tasks", SUITE).operator(OPERATOR)
    bench = Bench(folder, ready_source(folder, [operator], example=example))
    save_peaks(probe(Settings(folder, folder).threads), folder / "peaks.json")
    arena_library(bench.cache)
    return bench


def outcome(found: Finished) -> dict[str, Any]:
    """Figures of one process. Raises `RuntimeError` where it judged nothing."""
    if found.code not in (0, 1):
        raise RuntimeError(f"kernel-eval ended with {found.code}: " + " | ".join(line for _, line in found.lines[-3:]))
    cases = json.loads(found.output)["operators"][0]["cases"]
    return {
        "seconds": found.seconds,
        "peak_mib": found.peak_mib,
        "accepted": sum(case["verdict"] == "accepted" for case in cases),
        "playing_s": sum(case["seconds"] for case in cases),
    }


def measure(bench: Bench, rounds: int) -> dict[str, list[dict[str, Any]]]:
    """Cold and warm in turns."""
    found: dict[str, list[dict[str, Any]]] = {"cold": [], "warm": []}
    for turn in range(rounds):
        shutil.rmtree(bench.cache / "goldens", ignore_errors=True)
        for name, samples in found.items():
            os.sync()  # what was written before is nobody's work now
            samples.append(outcome(bench.judge()))
            tell(f"round {turn + 1} of {rounds}, {name}: {samples[-1]['seconds']:.1f} s")
    return found


def main() -> int:
    """Print the figures; 0 where every aim is met, or where there are no published figures to measure by."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figures", type=Path, nargs="?", default=FIGURES, help="JSON with published cases by operator")
    parser.add_argument("--candidate", choices=["example", "torch"], default="example")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--largest", type=int, default=1 << 62, help="only cases with at most so many elements")
    chosen = parser.parse_args()
    if not chosen.figures.is_file():
        tell(f"exp_shapes: {chosen.figures} is not there, nothing measured; give the path of the published figures")
        return 0 if chosen.figures == FIGURES else 2
    cases = published_cases(chosen.figures, chosen.largest)
    with tempfile.TemporaryDirectory(prefix="hapboard-bench-") as folder:
        found = measure(prepare(Path(folder), cases, example=chosen.candidate == "example"), chosen.rounds)
    everything = [sample for samples in found.values() for sample in samples]
    wrong = sum(len(cases) - sample["accepted"] for sample in everything)
    medians = {name: statistics.median(sample["seconds"] for sample in samples) for name, samples in found.items()}
    return finish(
        "exp_shapes",
        {
            "wrong_cases": aim(wrong, 0),
            "cold_s": aim(medians["cold"], COLD_S),
            "warm_s": aim(medians["warm"], WARM_S),
            "peak_mib": aim(max(sample["peak_mib"] for sample in everything), PEAK_MIB),
        },
        cases=len(cases),
        elements=sum(map(element_count, cases)),
        candidate=chosen.candidate,
        seconds={name: spread([sample["seconds"] for sample in samples], 2) for name, samples in found.items()},
        playing_s={name: spread([sample["playing_s"] for sample in samples], 2) for name, samples in found.items()},
    )


if __name__ == "__main__":
    sys.exit(main())
