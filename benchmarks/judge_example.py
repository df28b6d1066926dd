"""The example judged end to end by the judge alone: all operators, public and hidden cases.

First with an empty golden cache, then with a warm one; correctness alone, then
with timing. Hidden cases are made from a fresh secret for this run. Usage:

    python -m benchmarks.judge_example [--source examples/cpu_cpp] [--operator exp ...] [--public-only] [--no-timing]
"""

from __future__ import annotations

import argparse
import os
import secrets
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.support.figures import aim, finish, spread, tell
from kernel_eval.device.cpu_probe import probe
from kernel_eval.hap import CpuPeaks
from kernel_eval.model import (
    BuildFinished,
    Candidate,
    CaseJudged,
    Event,
    OperatorFinished,
    OperatorStarted,
    Report,
    Suite,
)
from kernel_eval.settings import Settings
from kernel_eval.suite import default_bench_data, load_suite
from kernel_eval.suite.hidden import generate_hidden, overlay_hidden

PROJECT = Path(__file__).resolve().parents[1]
FULL_CASES = 800
BUILD_S, CORRECTNESS_S, TIMED_S = 25.0, 60.0, 360.0


@dataclass
class Phases:
    """Seconds of each phase, taken from the evaluation's events."""

    began: float = field(default_factory=time.monotonic)
    build_s: float = 0.0
    correctness_s: dict[str, float] = field(default_factory=dict)
    timing_s: dict[str, float] = field(default_factory=dict)
    _mark: float = 0.0
    _operator: str = ""

    def __call__(self, event: Event) -> None:
        """Close the phase that the event ends."""
        now = time.monotonic()
        match event:
            case BuildFinished(build=build):
                self.build_s = build.seconds
            case OperatorStarted(operator=name):
                self._operator, self._mark = name, now
            case CaseJudged(position=position, total=total) if position == total:
                self.correctness_s[self._operator] = round(now - self._mark, 2)
                self._mark = now
            case OperatorFinished(result=result):
                self.timing_s[result.operator] = round(now - self._mark, 2)
                tell(f"{result.operator}: {result.verdict}, score {result.score}")


def main() -> int:
    """Three evaluations of one source folder."""
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # as kernel-eval and the worker have it
    options = parse()
    with tempfile.TemporaryDirectory(prefix="hapboard-bench-") as name:
        folder = Path(name)
        suite = chosen_suite(folder, options)
        tell(f"{len(suite.operators)} operators, {len(suite.cases)} cases")
        peaks = probe(Settings(folder, folder).threads)
        rounds = {"cold": judge(folder, suite, options.source, peaks, "cold", timed=False)}
        rounds["warm"] = judge(folder, suite, options.source, peaks, "warm", timed=False)
        if not options.no_timing:
            rounds["timed"] = judge(folder, suite, options.source, peaks, "timed", timed=True)
    return finish("judge_example", aims(rounds, len(suite.cases)), cases=len(suite.cases), rounds=rounds)


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=Path, default=PROJECT / "examples" / "cpu_cpp")
    parser.add_argument("--operator", action="append", help="only this one; may be repeated")
    parser.add_argument("--public-only", action="store_true", help="leave the hidden cases out")
    parser.add_argument("--no-timing", action="store_true", help="correctness alone")
    return parser.parse_args()


def chosen_suite(folder: Path, options: argparse.Namespace) -> Suite:
    """The small suite with hidden cases of its own, or the part of it that was asked for."""
    suite = load_suite(default_bench_data(), "cann-bench-small")
    if not options.public_only:
        generate_hidden(suite, secrets.token_bytes(32), folder / "hidden", "benchmark")
        suite = overlay_hidden(suite, folder / "hidden")
    return suite.select(operators=frozenset(options.operator) if options.operator else None)


def judge(folder: Path, suite: Suite, source: Path, peaks: CpuPeaks, name: str, *, timed: bool) -> dict[str, Any]:
    """One evaluation and where its seconds went."""
    from kernel_eval.pipeline import evaluate  # loads torch, which reads the policy above when it is loaded

    tell(f"-- {name}")
    work = folder / name
    work.mkdir()
    settings = Settings(work_dir=work, cache_dir=folder / "cache", timed=timed)
    phases = Phases()
    report = evaluate(Candidate(source), suite, settings, phases, peaks=peaks)
    return {
        "total_s": round(time.monotonic() - phases.began, 1),
        "build_s": round(phases.build_s, 1),
        "correctness_s": phases.correctness_s,
        "timing_s": phases.timing_s if timed else {},
        "case_ms": case_ms(report),
        **outcome(report),
    }


def case_ms(report: Report) -> dict[str, float | int]:
    """Milliseconds that cases took, over all operators."""
    return spread([1000 * case.seconds for result in report.operators for case in result.cases], 1)


def outcome(report: Report) -> dict[str, Any]:
    """What was judged, so that a fast run that judged nothing is seen as such."""
    cases = [case for result in report.operators for case in result.cases]
    speedups = [result.speedup for result in report.operators if result.speedup is not None]
    return {
        "accepted": sum(case.accepted for case in cases),
        "cases": len(cases),
        "scores": {result.operator: result.score for result in report.operators},
        "speedup": round(statistics.geometric_mean(speedups), 2) if speedups else None,
        "flags": sorted({str(flag.id) for case in cases for flag in case.flags}),
    }


def aims(rounds: dict[str, dict[str, Any]], cases: int) -> dict[str, dict[str, Any]]:
    """Every case is right; the aims in seconds are for all 800 cases, fewer share a start that doesn't shrink."""
    found = {"wrong_cases": aim(rounds["warm"]["cases"] - rounds["warm"]["accepted"], 0)}
    if cases < FULL_CASES:
        return found
    warm = rounds["warm"]["total_s"] - rounds["warm"]["build_s"]
    found["cold_build_s"] = aim(rounds["cold"]["build_s"], BUILD_S)
    found["correctness_s"] = aim(warm, CORRECTNESS_S)
    if "timed" in rounds:
        found["end_to_end_s"] = aim(rounds["timed"]["total_s"], TIMED_S)
    return found


if __name__ == "__main__":
    sys.exit(main())
