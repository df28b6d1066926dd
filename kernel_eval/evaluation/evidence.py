"""What the times themselves say against a candidate, as flags."""

from __future__ import annotations

from collections.abc import Sequence

from kernel_eval.guard import cpu_above_wall
from kernel_eval.model import Case, Flag, FlagId, Operator, Severity
from kernel_eval.timing.bench import Timing
from kernel_eval.timing.statistics import median

LEAST_RATIOS = 10
TYPICAL_BOUND = 0.10
ONE_SIDED = 0.8
"""An operator's batches are non-linear where the typical ratio is off by more than 10 % and four of five agree."""


def operator_flags(operator: Operator, ratios: Sequence[float]) -> list[Flag]:
    """Batches of half the length taking another time per call, case after case, are no chance."""
    if len(ratios) < LEAST_RATIOS or abs(median(ratios) - 1) <= TYPICAL_BOUND:
        return []
    longer = sum(ratio > 1 for ratio in ratios)
    if max(longer, len(ratios) - longer) < ONE_SIDED * len(ratios):
        return []
    message = f"half a batch typically takes {median(ratios):.2f} times as long per call as a whole one"
    evidence = {"median_ratio": median(ratios), "cases": len(ratios), "cases_longer": longer}
    return [Flag(FlagId.BATCH_NONLINEAR, Severity.HOLD, operator.name, None, message, evidence)]


def case_flags(case: Case, timing: Timing, threads: int) -> list[Flag]:
    """Flags on one timed case of a candidate that had `threads` cores."""
    flags = []

    def add(flag: FlagId, severity: Severity, message: str, evidence: dict[str, object]) -> None:
        flags.append(Flag(flag, severity, case.operator, case.case_id, message, evidence))

    if timing.nonlinear:
        message = "a batch of half the length takes another time per call"
        add(FlagId.BATCH_NONLINEAR, Severity.HOLD, message, {"short_us": timing.short_us, "us": timing.candidate_us})
    if timing.unstable:
        message = "the times of the processes lie so far apart that the score may be off"
        add(FlagId.UNSTABLE_TIMING, Severity.NOTE, message, {})
    excess = [
        play for play in timing.plays if play.elapsed_ns and cpu_above_wall(play.cpu_ns, play.elapsed_ns, threads)
    ]
    if excess:
        message = "more CPU time in a batch than its cores can give"
        pairs = [[play.cpu_ns, play.elapsed_ns] for play in excess]
        add(FlagId.CPU_ABOVE_WALL, Severity.REVIEW, message, {"cpu_ns_and_elapsed_ns": pairs, "cores": threads})
    return flags
