"""The score of one case: Hardware-Anchored Performance with every corner decided (paper, section 2.3).

    s = (T_base − T_HW) / ((T_cand − T_HW) + (T_base − T_HW))

s is 0.5 at the baseline, 1 at the limit and tends to 0 for slow kernels. All
times are in µs. `docs/spec/scoring.md` tells the corners in words.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from kernel_eval.errors import NotMeasured
from kernel_eval.model import FlagId, Provenance, Severity

APPROVED_CAP = 2.0
"""What an approved case faster than the limit counts at most; also the value at and beyond the formula's pole."""
CONTRADICTION_SHARE = 0.05
"""Baseline and limit closer than this share of the baseline contradict each other."""
HOLD_SHARE = 0.5
"""Faster than this share of the limit, a case holds its operator back."""
DERIVED_FACTOR = 10.0
DERIVED_FLOOR_US = 10.0


class Decision(StrEnum):
    """What a person said of a flag.

    `REJECTED` takes the performance points it stands on, `VOID` everything
    of the operator.
    """

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    VOID = "void"


@dataclass(frozen=True)
class Concern:
    """A reason to look at a case, not yet bound to an operator and case id."""

    flag: FlagId
    severity: Severity
    message: str


@dataclass(frozen=True)
class CaseScore:
    """`hap` is s uncapped; `published` is what counts until a person decides: 0 ≤ published ≤ 1."""

    hap: float
    published: float
    baseline_us: float
    provenance: Provenance
    concerns: tuple[Concern, ...] = ()


def derived_baseline_us(limit_us: float) -> float:
    """The baseline that stands in for a missing one: ten times the limit, 10 µs at least."""
    return max(DERIVED_FACTOR * limit_us, DERIVED_FLOOR_US)


def contradicts(baseline_us: float, limit_us: float) -> bool:
    """Whether the two anchors leave no room between them for a score."""
    return baseline_us - limit_us < CONTRADICTION_SHARE * baseline_us


def hap(baseline_us: float, limit_us: float, candidate_us: float) -> float:
    """s, uncapped, of finite times above zero.

    Contradicting anchors score by the baseline alone, so that nobody gains or
    loses by our error. At and beyond the pole at 2 T_HW − T_base s is undefined
    and stands at `APPROVED_CAP`.
    """
    if contradicts(baseline_us, limit_us):
        return baseline_us / (baseline_us + candidate_us)
    room = baseline_us - limit_us
    denominator = (candidate_us - limit_us) + room
    return room / denominator if denominator > 0 else APPROVED_CAP


def counted_hap(value: float, decision: Decision) -> float:
    """What a case of uncapped score `value` counts under a decision on its being faster than the limit."""
    match decision:
        case Decision.PENDING:
            return min(value, 1.0)
        case Decision.APPROVED:
            return min(value, APPROVED_CAP)
        case Decision.REJECTED | Decision.VOID:
            return 0.0 if value > 1 else value


def score_case(baseline_us: float | None, limit_us: float | None, candidate_us: float) -> CaseScore:
    """Score one measured case; `baseline_us` None where no baseline is known.

    `limit_us` None says that there is no limit: s = T_base / (T_base + T_cand), and the baseline must be known.

    Raises `NotMeasured` for a time that is not finite or not above zero: such a
    case was not measured, and our fault never becomes a score.
    """
    if limit_us is None:
        return _unlimited(baseline_us, candidate_us)
    provenance = Provenance.DERIVED if baseline_us is None else Provenance.MEASURED
    limit_us = _checked("limit", limit_us)
    base_us = _checked("baseline", derived_baseline_us(limit_us) if baseline_us is None else baseline_us)
    candidate_us = _checked("candidate", candidate_us)
    value = hap(base_us, limit_us, candidate_us)
    concerns = _concerns(base_us, limit_us, candidate_us)
    return CaseScore(value, counted_hap(value, Decision.PENDING), base_us, provenance, concerns)


def _unlimited(baseline_us: float | None, candidate_us: float) -> CaseScore:
    base_us = _checked("baseline", math.nan if baseline_us is None else baseline_us)
    value = hap(base_us, 0.0, _checked("candidate", candidate_us))
    return CaseScore(value, value, base_us, Provenance.MEASURED)


def _checked(whose: str, time_us: float) -> float:
    if not math.isfinite(time_us) or time_us <= 0:
        raise NotMeasured(f"the {whose}'s time is {time_us} µs: a time must be finite and above zero")
    return time_us


def _concerns(baseline_us: float, limit_us: float, candidate_us: float) -> tuple[Concern, ...]:
    if contradicts(baseline_us, limit_us):
        message = (
            f"baseline {baseline_us:.6g} µs and limit {limit_us:.6g} µs leave no room for a score; "
            f"the candidate's {candidate_us:.6g} µs were scored against the baseline alone"
        )
        return (Concern(FlagId.ANCHOR_CONTRADICTION, Severity.NOTE, message),)
    if candidate_us >= limit_us:
        return ()
    severity = Severity.HOLD if candidate_us < HOLD_SHARE * limit_us else Severity.REVIEW
    message = f"{candidate_us:.6g} µs is faster than the limit of {limit_us:.6g} µs"
    return (Concern(FlagId.FASTER_THAN_LIMIT, severity, message),)
