"""A case's result with everything that follows from its times: score and derived flags."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from kernel_eval.errors import NotMeasured
from kernel_eval.model import NO_LIMIT, CaseResult, Flag, FlagId, MeasurementState, Verdict
from kernel_eval.score.case import Concern, score_case

DERIVED_FLAGS = frozenset({FlagId.FASTER_THAN_LIMIT, FlagId.ANCHOR_CONTRADICTION, FlagId.NO_ATTEMPT})
"""Flags that follow from times and outputs alone and are made anew whenever scores are."""


def scored_case(result: CaseResult) -> CaseResult:
    """The case with `hap`, `published_hap` and its derived flags made from its times.

    A case that is not accepted, or that was not timed, has no score. A case of
    which the candidate executed nothing attributable is correct at s = 0.
    Raises `NotMeasured` where a measured case lacks a limit or has an unusable time.
    """
    bare = replace(result, hap=None, published_hap=None, flags=lasting(result.flags))
    measured = result.candidate
    if not result.accepted or measured is None or measured.state is MeasurementState.NOT_MEASURED:
        return bare
    if measured.state is MeasurementState.NOT_EXECUTED:
        return replace(bare, hap=0.0, published_hap=0.0)
    score = score_case(_baseline_us(result), _limit_us(result), _or_nan(measured.median_us))
    flags = tuple(_bound(concern, result) for concern in score.concerns)
    return replace(bare, hap=score.hap, published_hap=score.published, flags=bare.flags + flags)


def scored_or_ours(case: CaseResult) -> CaseResult:
    """The scored case; an accepted one that has no usable time becomes an `internal_error`, whoever lost it."""
    try:
        scored = scored_case(case)
    except NotMeasured as fault:
        return replace(case, verdict=Verdict.INTERNAL_ERROR, message=str(fault), hap=None, published_hap=None)
    if not scored.accepted or scored.published_hap is not None:
        return scored
    said = case.candidate.message if case.candidate else ""
    return replace(scored, verdict=Verdict.INTERNAL_ERROR, message=said or "the case's time could not be measured")


def untimed(case: CaseResult) -> CaseResult:
    """The case without any score, for a run that judges correctness alone."""
    return replace(case, hap=None, published_hap=None, flags=lasting(case.flags))


def speedup(cases: Sequence[CaseResult]) -> float | None:
    """Geometric mean of T_base / T_cand over accepted cases with both times measured; None without any."""
    logs = []
    for case in cases:
        base = case.baseline.median_us if case.baseline else None
        own = case.candidate.median_us if case.candidate else None
        if case.accepted and base is not None and own is not None and base > 0 and own > 0:
            logs.append(math.log(base / own))
    return math.exp(math.fsum(logs) / len(logs)) if logs else None


def lasting(flags: Sequence[Flag]) -> tuple[Flag, ...]:
    """The flags that do not follow from times and outputs."""
    return tuple(flag for flag in flags if flag.id not in DERIVED_FLAGS)


def _baseline_us(case: CaseResult) -> float | None:
    if case.baseline is not None and case.baseline.median_us is not None:
        return case.baseline.median_us
    return case.anchor_us


def _limit_us(case: CaseResult) -> float | None:
    """None where there is none by design, NaN where one should be there."""
    if case.limit == NO_LIMIT:
        return None
    return case.limit.limit_us if case.limit is not None else math.nan


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value


def _bound(concern: Concern, case: CaseResult) -> Flag:
    return Flag(concern.flag, concern.severity, case.operator, case.case_id, concern.message)
