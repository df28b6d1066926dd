"""What may be told of an operator that was judged on hidden cases.

Exact figures would let people probe single hidden cases: counts go outside in
steps of 5 %, rounded down, scores with one decimal. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kernel_eval.model import Verdict, strongest

STEP_PERCENT = 5
SCORE_DIGITS = 1
HIDDEN_FAILED = "hidden_failed"
"""Every public case is accepted, some hidden ones are not; which and how is not told."""
CORRECT_POINTS = 30.0


@dataclass(frozen=True)
class Axes:
    """An operator's three axes in points (20, 30, 50 at most) as they may be shown; None where unscored."""

    compile_points: float | None
    correct_points: float | None
    performance_points: float | None


@dataclass(frozen=True)
class Counts:
    """Correct cases: exact public ones, hidden ones in per cent as `coarse_percent` gives it."""

    public_passed: int
    public_total: int
    hidden_percent: int | None
    hidden_total: int

    @property
    def share(self) -> float:
        """Share of all cases that are known to be correct, from 0 to 1."""
        hidden = self.hidden_total * (self.hidden_percent or 0) / 100
        total = self.public_total + self.hidden_total
        return (self.public_passed + hidden) / total if total else 0.0


def coarse_percent(passed: int, total: int) -> int | None:
    """How many of `total` hidden cases passed, in per cent, rounded down to a step; None without hidden cases.

    100 stands only where all passed.
    """
    if total == 0:
        return None
    return passed * 100 // total // STEP_PERCENT * STEP_PERCENT


def told_verdict(verdict: str, solved: bool) -> str:
    """The word on an operator: the judge's on its public cases, unless hidden ones alone failed."""
    return HIDDEN_FAILED if verdict == Verdict.ACCEPTED.value and not solved else verdict


def told_verdict_of_all(verdicts: Iterable[str]) -> str:
    """The word on a whole result: that of its worst operator."""
    words = list(verdicts)
    worst = strongest(Verdict(word) for word in words if word != HIDDEN_FAILED)
    return HIDDEN_FAILED if worst is Verdict.ACCEPTED and HIDDEN_FAILED in words else worst.value


def shown_score(score: float | None) -> float | None:
    """A score as it may be shown."""
    return None if score is None else round(score, SCORE_DIGITS)


def shown_axes(score: float | None, compile_points: float | None, counts: Counts) -> Axes:
    """Axes that add up to the shown score and follow from public counts and coarse hidden ones alone.

    Exact axes would tell the exact number of correct hidden cases.
    """
    if score is None or compile_points is None:
        return Axes(None, None, None)
    return split_score(score, compile_points, CORRECT_POINTS * counts.share)


def split_score(score: float, compile_points: float, correct_points: float) -> Axes:
    """The shown score's three axes: what its first two leave is performance."""
    whole = round(score, SCORE_DIGITS)
    compiled = min(compile_points, whole)
    correct = round(min(correct_points, whole - compiled), SCORE_DIGITS)
    return Axes(compiled, correct, round(whole - compiled - correct, SCORE_DIGITS))
