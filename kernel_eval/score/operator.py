"""The score of an operator from its cases (paper, section 2.3).

    100 · [0.2 · δ_pass + Σ over cases of δ_acc · (0.3 + 0.5 · s) / number of cases]

Everything here is a function of `CaseResult`s, so a stored result can be scored
again at any time without running anything (`rescore`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from kernel_eval.model import CaseResult, Flag, FlagId, Level, OperatorResult, Severity, Verdict, strongest
from kernel_eval.score.timed import lasting, scored_or_ours, speedup, untimed

FASTER_SHARE = 0.05
"""With more than this share of its cases faster than the limit, an operator is held back."""
RIGHT_STRUCTURE = frozenset({Verdict.ACCEPTED, Verdict.WRONG_VALUES})


@dataclass(frozen=True)
class Weights:
    """How the three axes share the 100 points; they belong to the board."""

    compile: float = 0.2
    correct: float = 0.3
    performance: float = 0.5

    def __post_init__(self) -> None:
        parts = (self.compile, self.correct, self.performance)
        if min(parts) < 0 or not math.isclose(sum(parts), 1.0):
            raise ValueError(f"weights {parts} must be zero or more and sum to 1")


PAPER_WEIGHTS = Weights()


def score_operator(
    operator: str,
    level: Level,
    cases: Sequence[CaseResult],
    case_count: int,
    *,
    timed: bool = True,
    verdict: Verdict | None = None,
    weights: Weights = PAPER_WEIGHTS,
    flags: Sequence[Flag] = (),
    message: str = "",
    log_excerpt: str = "",
) -> OperatorResult:
    """Score an operator whose suite holds `case_count` cases; a case without a result is a failed one.

    `verdict` says what befell the operator as a whole (a failed build), else the
    strongest of the cases' verdicts stands. `flags` are those that stand on the
    operator. `timed` False leaves performance and score None. An accepted case
    that could not be measured makes the operator an `internal_error`: all points
    None. Raises `ValueError` for foreign, double or surplus cases.
    """
    _check_cases(operator, cases, case_count)
    scored = tuple(scored_or_ours(case) if timed else untimed(case) for case in cases)
    found = strongest([case.verdict for case in scored] + ([verdict] if verdict else []))
    if not scored and verdict is None:
        raise ValueError(f"{operator}: no case and no verdict, so nothing to score")
    points = _points(scored, case_count, found, timed, weights)
    return OperatorResult(
        operator=operator,
        level=level,
        verdict=found,
        cases=scored,
        compile_points=points[0],
        correct_points=points[1],
        performance_points=points[2],
        score=None if None in points else math.fsum(point for point in points if point is not None),
        solved=len(scored) == case_count and found is Verdict.ACCEPTED,
        speedup=speedup(scored),
        flags=lasting(flags) + _operator_flags(operator, scored, case_count),
        message=message,
        log_excerpt=log_excerpt,
    )


def failure_message(cases: Sequence[CaseResult]) -> str:
    """What the failed ones of an operator's cases say: once where all say the same, else how many, and the first."""
    failed = [case for case in cases if not case.accepted]
    if not failed:
        return ""
    first = failed[0]
    if len(failed) == len(cases) and all(case.message == first.message for case in failed):
        return first.message
    said = first.message or str(first.verdict)
    return f"{len(failed)} of {len(cases)} cases failed; the first, case {first.case_id}: {said}"


def performance_points(haps: Sequence[float], case_count: int, weights: Weights) -> float:
    """The performance axis from what each accepted case counts."""
    return 100 * weights.performance * math.fsum(haps) / case_count


def _points(
    cases: Sequence[CaseResult], case_count: int, verdict: Verdict, timed: bool, weights: Weights
) -> tuple[float | None, float | None, float | None]:
    if verdict is Verdict.INTERNAL_ERROR:
        return None, None, None
    if verdict in (Verdict.BUILD_FAILED, Verdict.TAMPERED):
        return 0.0, 0.0, 0.0 if timed else None
    passed = any(case.verdict in RIGHT_STRUCTURE for case in cases)
    compiled = 100 * weights.compile * passed
    correct = 100 * weights.correct * sum(case.accepted for case in cases) / max(case_count, 1)
    haps = [case.published_hap for case in cases if case.published_hap is not None]
    return compiled, correct, performance_points(haps, max(case_count, 1), weights) if timed else None


def _operator_flags(operator: str, cases: Sequence[CaseResult], case_count: int) -> tuple[Flag, ...]:
    flags = []
    faster = sum(any(flag.id is FlagId.FASTER_THAN_LIMIT for flag in case.flags) for case in cases)
    if faster > FASTER_SHARE * case_count:
        message = f"{faster} of {case_count} cases are faster than the limit"
        evidence = {"cases_faster": faster, "cases": case_count}
        flags.append(Flag(FlagId.FASTER_THAN_LIMIT, Severity.HOLD, operator, None, message, evidence))
    attempts = {case.attempted for case in cases}
    if False in attempts and True not in attempts:
        message = "every output that could tell was constant or left unwritten"
        flags.append(Flag(FlagId.NO_ATTEMPT, Severity.HOLD, operator, None, message))
    return tuple(flags)


def _check_cases(operator: str, cases: Sequence[CaseResult], case_count: int) -> None:
    keys = {(case.split, case.case_id) for case in cases}
    if len(keys) < len(cases):
        raise ValueError(f"{operator}: a case has two results")
    if len(cases) > case_count:
        raise ValueError(f"{operator}: {len(cases)} results for {case_count} cases")
    foreign = sorted({case.operator for case in cases} - {operator})
    if foreign:
        raise ValueError(f"{operator}: results of {', '.join(foreign)} among its cases")
