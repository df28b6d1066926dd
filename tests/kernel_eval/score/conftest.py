"""Results of cases as the judge would hand them to the scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kernel_eval.model import Bottleneck, CaseResult, Limit, Measurement, MeasurementState, Split, Verdict

MakeCase = Callable[..., CaseResult]


def measured(time_us: float, interval_us: tuple[float, float] | None = None) -> Measurement:
    return Measurement(
        MeasurementState.MEASURED, samples_us=(time_us,), median_us=time_us, interval_us=interval_us, calls=8
    )


def new_case(
    case_id: int = 1,
    candidate_us: float | None = 20.0,
    baseline_us: float | None = 20.0,
    limit_us: float = 10.0,
    verdict: Verdict = Verdict.ACCEPTED,
    **other: Any,
) -> CaseResult:
    """A case of `exp`: times in µs, or None for one that was not timed."""
    given: dict[str, Any] = {
        "split": Split.PUBLIC,
        "candidate": None if candidate_us is None else measured(candidate_us),
        "baseline": None if baseline_us is None else measured(baseline_us),
        "limit": Limit(limit_us, {"mte2": limit_us}, Bottleneck.MTE, "compat", "1"),
    }
    return CaseResult("exp", case_id, verdict=verdict, **(given | other))


@pytest.fixture
def make_case() -> MakeCase:
    return new_case
