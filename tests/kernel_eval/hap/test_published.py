"""The model against the published limits, which are read where they lie and never copied."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kernel_eval.hap import npu_limit
from kernel_eval.model import Bottleneck, Case

Published = list[tuple[Case, Mapping[str, float]]]


def agrees(limit_us: float, published_us: float) -> bool:
    return abs(limit_us - published_us) <= max(0.01 * published_us, 0.015)


@pytest.mark.parametrize(("hardware", "share"), [("910b2", 0.97), ("950pr", 0.99)])
def test_compat_reproduces_the_published_limits_of_level_one(published_limits: Published, hardware, share) -> None:
    assert len(published_limits) == 160
    off = [
        (case.key, npu_limit(case, hardware, "compat").limit_us, limits[hardware])
        for case, limits in published_limits
        if not agrees(npu_limit(case, hardware, "compat").limit_us, limits[hardware])
    ]
    assert 1 - len(off) / len(published_limits) >= share, off


def test_vector_bound_cases_are_found_on_the_older_chip_alone(published_limits: Published) -> None:
    labels = {
        hardware: [npu_limit(case, hardware, "compat").bottleneck for case, _ in published_limits]
        for hardware in ("910b2", "950pr")
    }
    assert labels["910b2"].count(Bottleneck.VECTOR) == 23
    assert set(labels["950pr"]) == {Bottleneck.MTE}


@pytest.mark.parametrize("hardware", ["910b2", "950pr"])
def test_documented_rates_never_promise_more_than_the_published_ones(published_limits: Published, hardware) -> None:
    for case, _ in published_limits:
        spec, compat = npu_limit(case, hardware, "spec"), npu_limit(case, hardware, "compat")
        assert spec.limit_us >= 0.999 * compat.limit_us
