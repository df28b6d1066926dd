"""The few figures of a report that people look at first."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from kernel_eval.model import CaseResult, Report, Verdict
from kernel_eval.model.report import STEADY_SPREAD


@dataclass(frozen=True)
class Summary:
    """Counts over all cases, the pass rate in 0…1, and the geometric mean of T_base / T_cand.

    `control_spread` and `inconclusive` are those of `Report`.
    The speed-up covers accepted cases that were timed; None where there is none. It is shown, never scored.
    """

    total_operators: int
    solved_operators: int
    total_cases: int
    total_passed: int
    pass_rate: float
    timed_cases: int
    overall_geometric_mean_speedup: float | None
    total_score: float | None
    control_spread: float | None
    inconclusive: bool


def summarise(report: Report) -> Summary:
    """The summary of a report."""
    cases = [case for operator in report.operators for case in operator.cases]
    passed = sum(case.accepted for case in cases)
    ratios = [ratio for case in cases if (ratio := speedup(case)) is not None]
    return Summary(
        total_operators=len(report.operators),
        solved_operators=sum(operator.solved for operator in report.operators),
        total_cases=len(cases),
        total_passed=passed,
        pass_rate=passed / len(cases) if cases else 0.0,
        timed_cases=len(ratios),
        overall_geometric_mean_speedup=geometric_mean(ratios),
        total_score=report.total_score,
        control_spread=report.control_spread,
        inconclusive=report.inconclusive,
    )


def steadiness(report: Report) -> str:
    """One sentence on how steady the host was; empty where no times were taken."""
    if report.control is None:
        return ""
    spread = report.control_spread
    if spread is None:
        return "inconclusive: too few cases were timed to tell how steady the host was"
    seen = f"half of a control kernel's times lay within ±{100 * spread:.1f} % of their median"
    bound = f"more than ±{100 * STEADY_SPREAD:g} %"
    return f"inconclusive: {seen}, {bound}" if report.inconclusive else f"steady: {seen}"


def speedup(case: CaseResult) -> float | None:
    """T_base / T_cand of an accepted case; None where either time is missing."""
    if not case.accepted or case.candidate is None or case.baseline is None:
        return None
    baseline, candidate = case.baseline.median_us, case.candidate.median_us
    if not baseline or not candidate or not math.isfinite(baseline / candidate):
        return None
    return baseline / candidate


def geometric_mean(ratios: Iterable[float]) -> float | None:
    """Geometric mean of positive numbers; None of none."""
    logs = [math.log(ratio) for ratio in ratios]
    return math.exp(math.fsum(logs) / len(logs)) if logs else None


def verdict_counts(report: Report) -> dict[Verdict, int]:
    """How many cases have each verdict, strongest first, without the verdicts that didn't occur."""
    found = [case.verdict for operator in report.operators for case in operator.cases]
    return {verdict: found.count(verdict) for verdict in Verdict if verdict in found}
