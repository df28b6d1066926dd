"""From the judge's report to rows, split into what the portal may read and what it may not. Pure.

Of hidden cases the public rows hold coarse counts alone; their results, times,
limits and evidence go to a schema that only the worker's role can read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from app.db.base import Base
from app.models import CaseResult as CaseRow
from app.models import FlagRow, HiddenCaseResult
from app.models import OperatorResult as OperatorRow
from app.models.results import CaseFigures
from app.runs.coarse import Counts, coarse_percent, shown_axes, shown_score
from kernel_eval.model import (
    CaseResult,
    Flag,
    FlagId,
    Measurement,
    MeasurementState,
    OperatorResult,
    Report,
    Split,
    Verdict,
    strongest,
)
from kernel_eval.report.codec import to_plain
from kernel_eval.score import failure_message, noise_band

HIDDEN_FLAG = "Raised on hidden cases; a reviewer sees the evidence."
ALWAYS_SHOWN = frozenset({Verdict.BUILD_FAILED, Verdict.LOAD_FAILED, Verdict.TAMPERED, Verdict.INTERNAL_ERROR})
"""Verdicts on an operator that tell nothing of a single hidden case."""
FROM_SOURCES = frozenset({FlagId.SOURCE_HINT, FlagId.BINARY_HINT, FlagId.OPAQUE_BINARY})
"""Flags whose evidence comes from the submission's files, not from playing cases."""
LOG_CAP_CHARACTERS = 256_000
NOT_TIMED = Measurement(MeasurementState.NOT_MEASURED)


@dataclass(frozen=True)
class Judged:
    """A report with the digests of the sources it speaks of, per operator."""

    report: Report
    sources: Mapping[str, str]


def rows_of(judged: Judged, run_id: int) -> list[Base]:
    """All rows of the run: operators, public cases, hidden cases, flags."""
    rows: list[Base] = []
    for result in judged.report.operators:
        rows.append(_operator_row(result, run_id, judged.sources.get(result.operator, "")))
        rows += [_case_row(case, run_id) for case in result.cases]
        rows += _flag_rows(result, run_id)
    return rows


def run_report(report: Report) -> dict[str, Any]:
    """What a run says of itself: versions, digests, totals, build; nothing of a single hidden case."""
    kept = to_plain(report)
    for name in ("operators", "flags", "level_scores", "total_score", "build_log", "message"):
        del kept[name]
    scores = [(str(result.level), shown_score(result.score) or 0.0) for result in report.operators]
    levels = {level: round(sum(score for of, score in scores if of == level), 1) for level in sorted(dict(scores))}
    build_log = _clean(report.build_log)[-LOG_CAP_CHARACTERS:]
    totals = {"level_scores": levels, "total_score": round(sum(levels.values()), 1)}
    host = {"control_spread": report.control_spread, "inconclusive": report.inconclusive}
    return {**kept, **totals, **host, "build_log": build_log, "message": _clean(report.message)}


def _operator_row(result: OperatorResult, run_id: int, source: str) -> OperatorRow:
    counts = _counts(result)
    axes = shown_axes(result.score, result.compile_points, counts)
    return OperatorRow(
        run_id=run_id,
        operator=result.operator,
        level=str(result.level),
        source=source,
        verdict=str(shown_verdict(result)),
        score=shown_score(result.score),
        noise=round(noise_band(result), 2),
        compile_points=axes.compile_points,
        correct_points=axes.correct_points,
        performance_points=axes.performance_points,
        solved=result.solved,
        speedup=None if result.speedup is None else round(result.speedup, 2),
        public_passed=counts.public_passed,
        public_total=counts.public_total,
        hidden_passed_coarse=counts.hidden_percent,
        hidden_total=counts.hidden_total,
        message=_shown_message(result),
        log_excerpt=_clean(result.log_excerpt),
        detail={},
    )


def shown_verdict(result: OperatorResult) -> Verdict:
    """The operator's verdict as its public cases give it; whether hidden ones failed is told by counts alone."""
    if result.verdict in ALWAYS_SHOWN or not _of(result, Split.HIDDEN):
        return result.verdict
    return strongest(case.verdict for case in _of(result, Split.PUBLIC))


def _shown_message(result: OperatorResult) -> str:
    if result.verdict in ALWAYS_SHOWN or not _of(result, Split.HIDDEN):
        return _clean(result.message)
    return _clean(failure_message(_of(result, Split.PUBLIC)))


def _counts(result: OperatorResult) -> Counts:
    public, hidden = _of(result, Split.PUBLIC), _of(result, Split.HIDDEN)
    percent = coarse_percent(sum(case.accepted for case in hidden), len(hidden))
    return Counts(sum(case.accepted for case in public), len(public), percent, len(hidden))


def _of(result: OperatorResult, split: Split) -> list[CaseResult]:
    return [case for case in result.cases if case.split is split]


def _case_row(case: CaseResult, run_id: int) -> CaseRow | HiddenCaseResult:
    kind = CaseRow if case.split is Split.PUBLIC else HiddenCaseResult
    row = kind(run_id=run_id, operator=case.operator, case_id=case.case_id, verdict=str(case.verdict))
    _fill(row, case)
    return row


def _fill(row: CaseFigures, case: CaseResult) -> None:
    own, compared = case.candidate or NOT_TIMED, case.comparison
    row.rule, row.message = case.rule, _clean(case.message)
    row.hap, row.published_hap = case.hap, case.published_hap
    row.candidate_us, row.candidate_mad_us = own.median_us, own.mad_us
    row.candidate_low_us, row.candidate_high_us = own.interval_us or (None, None)
    measured_us = case.baseline.median_us if case.baseline else None
    row.baseline_us = case.anchor_us if measured_us is None else measured_us
    row.limit_us = case.limit.limit_us if case.limit else None
    row.bottleneck = str(case.limit.bottleneck) if case.limit else None
    row.mean_re = _finite(compared.mean_re) if compared else None
    row.max_re = _finite(compared.max_re) if compared else None
    row.threshold, row.relaxed = (compared.threshold, compared.relaxed) if compared else (None, False)
    row.detail = {**to_plain(case), "message": row.message}


def _flag_rows(result: OperatorResult, run_id: int) -> list[FlagRow]:
    """Flags of the operator and of public cases as they are; those of hidden cases once per kind, bare."""
    public = [flag for case in _of(result, Split.PUBLIC) for flag in case.flags]
    hidden = {(flag.id, flag.severity): flag for case in _of(result, Split.HIDDEN) for flag in case.flags}
    whole = [_open_evidence(flag, bool(_of(result, Split.HIDDEN))) for flag in result.flags]
    rows = [_flag_row(flag, run_id, flag.case_id) for flag in (*whole, *public)]
    bare = [Flag(flag.id, flag.severity, flag.operator, None, HIDDEN_FLAG) for flag in hidden.values()]
    return rows + [_flag_row(flag, run_id, None) for flag in bare]


def _open_evidence(flag: Flag, judged_hidden: bool) -> Flag:
    """A flag on the operator as a whole: its evidence stays inside where hidden cases may be in it."""
    return flag if not judged_hidden or flag.id in FROM_SOURCES else replace(flag, evidence={})


def _flag_row(flag: Flag, run_id: int, case_id: int | None) -> FlagRow:
    return FlagRow(
        run_id=run_id,
        operator=flag.operator,
        case_id=case_id,
        flag=str(flag.id),
        severity=str(flag.severity),
        message=_clean(flag.message),
        evidence=to_plain(flag.evidence),
    )


def measured_baselines(results: Iterable[OperatorResult]) -> dict[tuple[str, Split, int], float]:
    """Baselines in µs that this run measured, by operator, split and case."""
    return {
        (case.operator, case.split, case.case_id): case.baseline.median_us
        for result in results
        for case in result.cases
        if case.baseline is not None and case.baseline.median_us is not None
    }


def _finite(value: float | None) -> float | None:
    """PostgreSQL keeps NaN and infinity, JSON views don't: a missing figure says as much."""
    return value if value is not None and value == value and abs(value) != float("inf") else None


def _clean(text: str) -> str:
    """Text that PostgreSQL takes: without NUL and lone surrogates."""
    return text.replace("\0", "\ufffd").encode("utf-8", errors="replace").decode("utf-8")
