from __future__ import annotations

from dataclasses import replace

import pytest

from kernel_eval.model import Anchor, AnchorSet, Bottleneck, FlagId, Level, Limit, Provenance, Split, Verdict
from kernel_eval.score import publish, rescore_operator, score_operator

from .conftest import MakeCase


def anchors(limit_us: float, baseline_us: float) -> AnchorSet:
    limit = Limit(limit_us, {"mte2": limit_us}, Bottleneck.MTE, "compat", "2")
    anchor = Anchor("exp", Split.PUBLIC, 1, baseline_us, limit, Provenance.MEASURED)
    return AnchorSet("2", "cpu", "digest", "2026-07-01T00:00:00Z", {}, {"exp/public/1": anchor})


def test_spoilt_scores_come_back_from_times_alone(make_case: MakeCase) -> None:
    result = score_operator("exp", Level.L1, [make_case(1, 9.0), make_case(2, 15.0)], 2)
    spoilt = replace(
        result,
        score=99.0,
        performance_points=1.0,
        speedup=None,
        flags=(),
        cases=tuple(replace(case, hap=0.1, published_hap=7.0, flags=()) for case in result.cases),
    )
    assert rescore_operator(spoilt) == result


def test_a_new_limit_scores_the_same_times_anew(make_case: MakeCase) -> None:
    result = score_operator("exp", Level.L1, [make_case(1, candidate_us=15.0)], 1)
    again = rescore_operator(result, anchors=anchors(limit_us=5.0, baseline_us=99.0))
    assert again.cases[0].hap == pytest.approx(15 / 25)
    assert again.cases[0].limit is not None
    assert again.cases[0].limit.model_version == "2"


def test_the_recorded_baseline_stands_in_where_none_was_measured(make_case: MakeCase) -> None:
    result = score_operator("exp", Level.L1, [make_case(1, candidate_us=30.0, baseline_us=None)], 1)
    assert result.cases[0].hap == pytest.approx(90 / 110)
    again = rescore_operator(result, anchors=anchors(limit_us=10.0, baseline_us=30.0))
    assert again.cases[0].hap == pytest.approx(0.5)


def test_a_repaired_anchor_takes_its_contradiction_back(make_case: MakeCase) -> None:
    result = score_operator("exp", Level.L1, [make_case(1, baseline_us=10.0)], 1)
    assert [flag.id for flag in result.cases[0].flags] == [FlagId.ANCHOR_CONTRADICTION]
    assert rescore_operator(result, anchors=anchors(5.0, 10.0)).cases[0].flags == ()


def test_a_failed_build_stays_one(make_case: MakeCase) -> None:
    result = score_operator("exp", Level.L1, [], 100, verdict=Verdict.BUILD_FAILED, message="no wheel")
    assert rescore_operator(result, case_count=100) == result
    assert publish(result, case_count=100).score == 0
