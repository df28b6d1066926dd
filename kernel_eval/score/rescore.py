"""Scoring a stored result again, under the same anchors or newer ones. Nothing is run."""

from __future__ import annotations

from dataclasses import replace

from kernel_eval.model import AnchorSet, CaseResult, OperatorResult, strongest
from kernel_eval.score.operator import PAPER_WEIGHTS, Weights, score_operator


def rescore_operator(
    result: OperatorResult,
    *,
    case_count: int | None = None,
    timed: bool = True,
    weights: Weights = PAPER_WEIGHTS,
    anchors: AnchorSet | None = None,
) -> OperatorResult:
    """Score a stored result again from its cases alone, under `anchors` where given.

    `case_count` None takes the number of stored cases, of which an evaluation
    keeps one for each of the suite's.
    """
    cases = [case if anchors is None else _reanchored(case, anchors) for case in result.cases]
    return score_operator(
        result.operator,
        result.level,
        cases,
        len(cases) if case_count is None else case_count,
        timed=timed,
        verdict=result.verdict if _stands_above(result) else None,
        weights=weights,
        flags=result.flags,
        message=result.message,
        log_excerpt=result.log_excerpt,
    )


def _stands_above(result: OperatorResult) -> bool:
    """Whether the stored verdict says more than the cases do."""
    return not result.cases or result.verdict is not strongest(case.verdict for case in result.cases)


def _reanchored(case: CaseResult, anchors: AnchorSet) -> CaseResult:
    """The case under another anchors version; a baseline measured beside the candidate stays."""
    anchor = anchors.anchors.get(f"{case.operator}/{case.split}/{case.case_id}")
    if anchor is None:
        return case
    if case.baseline is not None and case.baseline.median_us is not None:
        return replace(case, limit=anchor.limit)
    return replace(case, limit=anchor.limit, anchor_us=anchor.baseline_us)
