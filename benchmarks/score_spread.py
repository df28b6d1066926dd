"""How far an operator's score moves when the same submission is judged again and again.

Judges the example's public cases several times on this host. Where the control
kernel of a run wavered, the run is inconclusive and counts for nothing. Usage:

    python -m benchmarks.score_spread [--runs 10] [--source examples/cpu_cpp] [--operator exp ...]
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.support.figures import aim, finish, tell
from kernel_eval.device.cpu_probe import probe
from kernel_eval.model import Candidate, Report
from kernel_eval.settings import Settings
from kernel_eval.suite import default_bench_data, load_suite

PROJECT = Path(__file__).resolve().parents[1]
MOST_POINTS = 1.5
"""The most by which an operator's score may lie beside the median of all conclusive runs."""
LEAST_RUNS = 2


def main() -> int:
    """Judge several times, then compare."""
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # as kernel-eval and the worker have it
    options = parse()
    reports = []
    with tempfile.TemporaryDirectory(prefix="hapboard-bench-") as name:
        folder = Path(name)
        peaks = probe(Settings(folder, folder).threads)
        for run in range(options.runs):
            reports.append(judge(folder, options, peaks, run))
            seen = {result.operator: round(result.score or 0.0, 1) for result in reports[-1].operators}
            tell(f"run {run + 1}: control ±{100 * (reports[-1].control_spread or 0):.1f} %, {seen}")
    conclusive = [report for report in reports if not report.inconclusive]
    figures = {
        "runs": [figures_of(report) for report in reports],
        "moves_conclusive": moves(conclusive),
        "moves_all": moves(reports),
        "inconclusive": len(conclusive) < LEAST_RUNS,
    }
    aims = {"most_points": aim(max(moves(conclusive).values()), MOST_POINTS)} if len(conclusive) >= LEAST_RUNS else {}
    return finish("score_spread", aims, **figures)


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--source", type=Path, default=PROJECT / "examples" / "cpu_cpp")
    parser.add_argument("--operator", action="append", help="only this one; may be repeated")
    return parser.parse_args()


def judge(folder: Path, options: argparse.Namespace, peaks: Any, run: int) -> Report:
    """One whole evaluation, build included."""
    from kernel_eval.pipeline import evaluate  # loads torch, which reads the policy above when it is loaded

    suite = load_suite(default_bench_data(), "cann-bench-small")
    suite = suite.select(operators=frozenset(options.operator) if options.operator else None)
    work = folder / str(run)
    work.mkdir()
    settings = Settings(work_dir=work, cache_dir=folder / "cache")
    return evaluate(Candidate(options.source), suite, settings, lambda _: None, peaks=peaks)


def figures_of(report: Report) -> dict[str, Any]:
    """A run's scores and how steady the host was."""
    scores = {result.operator: None if result.score is None else round(result.score, 2) for result in report.operators}
    spread = report.control_spread
    return {
        "control_spread": None if spread is None else round(spread, 4),
        "inconclusive": report.inconclusive,
        "scores": scores,
    }


def moves(reports: list[Report]) -> dict[str, float]:
    """By operator, the points by which its score lies beside its median at most."""
    scores: dict[str, list[float]] = {}
    for report in reports:
        for result in report.operators:
            scores.setdefault(result.operator, []).append(result.score or 0.0)
    return {
        name: round(max(abs(score - statistics.median(found)) for score in found), 2) for name, found in scores.items()
    }


if __name__ == "__main__":
    sys.exit(main())
