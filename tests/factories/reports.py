"""Reports with something in every field."""

from __future__ import annotations

import math

from kernel_eval.model import (
    Bottleneck,
    CaseResult,
    Comparison,
    Flag,
    FlagId,
    Level,
    Limit,
    Measurement,
    MeasurementState,
    OperatorResult,
    Report,
    Severity,
    Split,
    Verdict,
    Worst,
)

HOSTILE = "</pre><script>alert(1)</script>| `x` \n\\"


def measurement(median_us: float) -> Measurement:
    return Measurement(
        MeasurementState.MEASURED,
        samples_us=(median_us * 0.9, median_us, median_us * 1.2),
        median_us=median_us,
        mad_us=median_us * 0.1,
        interval_us=(median_us * 0.9, median_us * 1.2),
        calls=64,
    )


def accepted_case(case_id: int, candidate_us: float, baseline_us: float, limit_us: float) -> CaseResult:
    units = {"vector": 0.5, "mte2": limit_us / 2, "mte3": limit_us / 2}
    return CaseResult(
        operator="exp",
        case_id=case_id,
        split=Split.PUBLIC,
        verdict=Verdict.ACCEPTED,
        rule="first_screen",
        comparison=Comparison(Verdict.ACCEPTED, "first_screen", mean_re=1e-7, max_re=1e-6, threshold=2**-13),
        candidate=measurement(candidate_us),
        baseline=measurement(baseline_us),
        limit=Limit(limit_us, units, Bottleneck.MTE, "roofline", "1"),
        hap=0.75,
        published_hap=0.75,
        seconds=0.02,
        attempted=True,
    )


def refused_case(case_id: int) -> CaseResult:
    worst = Worst(output=0, tensor=0, index=17, golden=math.inf, found=math.nan)
    comparison = Comparison(
        Verdict.WRONG_VALUES,
        "special.nan",
        HOSTILE,
        regions={"normal": {"count": 3.0, "errors": 1.0}},
        worst=worst,
    )
    flag = Flag(FlagId.KNOWN_OUTPUT_MISMATCH, Severity.HOLD, "exp", case_id, HOSTILE, {"values": [1.0, 2.0]})
    return CaseResult(
        "exp", case_id, Split.HIDDEN, Verdict.WRONG_VALUES, "special.nan", HOSTILE, comparison, flags=(flag,)
    )


def full_report() -> Report:
    """A report with accepted and refused cases, flags, hostile text and non-finite numbers."""
    cases = (accepted_case(1, 20.0, 40.0, 10.0), accepted_case(2, 10.0, 90.0, 5.0), refused_case(3))
    operator = OperatorResult(
        operator="exp",
        level=Level.L1,
        verdict=Verdict.WRONG_VALUES,
        cases=cases,
        compile_points=20.0,
        correct_points=20.0,
        performance_points=25.0,
        score=65.0,
        solved=False,
        speedup=4.2426,
        flags=(Flag(FlagId.NO_ATTEMPT, Severity.HOLD, "exp", None, "constant"),),
        message=HOSTILE,
        log_excerpt=HOSTILE,
    )
    return Report(
        evaluation="20260101-000000-abcdef",
        suite="cann-bench-small",
        suite_version="1",
        suite_digest="d" * 64,
        hidden_digest=None,
        hardware="cpu",
        anchors_version="a1",
        rules_version="1",
        limit_preset="roofline",
        started_at="2026-01-01T00:00:00+00:00",
        finished_at="2026-01-01T00:01:00+00:00",
        trusted=True,
        timed=True,
        verdict=Verdict.WRONG_VALUES,
        build_seconds=3.5,
        build_log=HOSTILE,
        message="",
        environment={"judge": "0.1.0"},
        operators=(operator,),
        level_scores={"L1": 65.0},
        total_score=65.0,
        flags=(Flag(FlagId.SOURCE_HINT, Severity.NOTE, "", None, HOSTILE),),
    )
