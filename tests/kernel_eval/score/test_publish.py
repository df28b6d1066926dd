from __future__ import annotations

from dataclasses import replace

import pytest

from kernel_eval.model import Flag, FlagId, Level, Severity, Verdict
from kernel_eval.score import UNDECIDED, Decision, Decisions, publish, score_operator

from .conftest import MakeCase

FASTER = FlagId.FASTER_THAN_LIMIT
MISMATCH = Flag(FlagId.KNOWN_OUTPUT_MISMATCH, Severity.HOLD, "exp", None, "a checked output differs")
REVIEW = Flag(FlagId.OPAQUE_BINARY, Severity.REVIEW, "exp", None, "built elsewhere")


def decided(decision: Decision, flag: FlagId = FASTER, case: str | None = None) -> Decisions:
    return Decisions({(flag, case): decision})


def one_faster(make_case: MakeCase, candidate_us: float = 8.0):
    """One of forty cases faster than the limit (room 20, limit 10), the others at the baseline."""
    cases = [make_case(number, baseline_us=30.0, candidate_us=30.0) for number in range(1, 40)]
    return score_operator("exp", Level.L1, [*cases, make_case(40, candidate_us, baseline_us=30.0)], 40)


BASE = 50 + 50 * 39 * 0.5 / 40
ONE = 50 / 40


@pytest.mark.parametrize(
    ("decisions", "counts"),
    [
        (UNDECIDED, 1.0),
        (decided(Decision.APPROVED, case="public/40"), 20 / 18),
        (decided(Decision.REJECTED, case="public/40"), 0.0),
        (decided(Decision.APPROVED), 20 / 18),
        (decided(Decision.REJECTED, case="public/39"), 1.0),
    ],
)
def test_a_case_faster_than_the_limit_counts_as_decided(make_case: MakeCase, decisions, counts) -> None:
    result = one_faster(make_case)
    published = publish(result, decisions)
    assert published.score == pytest.approx(BASE + ONE * counts)
    assert bool(published.open) == (counts == 1.0)
    assert result.score == pytest.approx(BASE + ONE)


def test_a_case_faster_than_half_the_limit_withholds_the_operator_until_decided(make_case: MakeCase) -> None:
    result = one_faster(make_case, candidate_us=4.0)
    assert publish(result).withheld
    assert publish(result).score is None
    lifted = publish(result, decided(Decision.APPROVED, case="public/40"))
    assert lifted.score == pytest.approx(BASE + ONE * 20 / 14)


def test_a_void_operator_counts_nothing_whatever_else_is_open(make_case: MakeCase) -> None:
    result = replace(one_faster(make_case, candidate_us=4.0), flags=(MISMATCH,))
    published = publish(result, decided(Decision.VOID, case="public/40"))
    assert (published.score, published.withheld) == (0.0, False)


@pytest.mark.parametrize(
    ("decision", "score"), [(Decision.APPROVED, 75.0), (Decision.REJECTED, 50.0), (Decision.VOID, 0.0)]
)
def test_a_hold_on_the_operator_waits_for_its_decision(make_case: MakeCase, decision, score) -> None:
    result = score_operator("exp", Level.L1, [make_case(1)], 1, flags=[MISMATCH])
    assert publish(result).withheld
    published = publish(result, decided(decision, MISMATCH.id))
    assert (published.score, published.withheld) == (pytest.approx(score), False)


def test_a_review_is_published_provisionally(make_case: MakeCase) -> None:
    result = score_operator("exp", Level.L1, [make_case(1)], 1, flags=[REVIEW])
    assert publish(result).score == pytest.approx(75)
    assert publish(result).open == (REVIEW,)


def test_a_note_needs_no_decision(make_case: MakeCase) -> None:
    result = score_operator("exp", Level.L1, [make_case(1, baseline_us=10.0)], 1)
    assert publish(result).open == ()


def test_what_was_not_scored_is_not_published(make_case: MakeCase) -> None:
    result = score_operator("exp", Level.L1, [make_case(1, verdict=Verdict.INTERNAL_ERROR)], 1)
    assert publish(result).score is None
    assert not publish(result).withheld


def test_a_missing_case_stays_a_failed_one_when_published(make_case: MakeCase) -> None:
    result = score_operator("exp", Level.L1, [make_case(1)], 4)
    assert publish(result, case_count=4).score == pytest.approx(result.score)
