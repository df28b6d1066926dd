"""What is published of an operator: a function of its stored result and of people's decisions.

A flag never edits a stored score. A hold keeps the operator off the board until
a person decides; a review is published provisionally.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kernel_eval.model import CaseResult, Flag, FlagId, OperatorResult, Severity
from kernel_eval.score.case import Decision, counted_hap
from kernel_eval.score.operator import PAPER_WEIGHTS, Weights, performance_points


@dataclass(frozen=True)
class Decisions:
    """People's decisions on one operator's flags.

    Keys are the flag and the case (`public/7`), or None for the operator. A
    decision on the operator stands for those of its cases that have none.
    """

    by_flag: Mapping[tuple[FlagId, str | None], Decision] = field(default_factory=dict)

    def on(self, flag: FlagId, case: str | None) -> Decision:
        """The decision that holds for `flag` on `case`."""
        own = self.by_flag.get((flag, case), Decision.PENDING)
        return own if own is not Decision.PENDING else self.by_flag.get((flag, None), Decision.PENDING)


UNDECIDED = Decisions()


@dataclass(frozen=True)
class Published:
    """`score` is None where the operator is withheld or was not scored; `open` are the flags still to be decided."""

    score: float | None
    withheld: bool
    open: tuple[Flag, ...]


def publish(
    result: OperatorResult,
    decisions: Decisions = UNDECIDED,
    *,
    case_count: int | None = None,
    weights: Weights = PAPER_WEIGHTS,
) -> Published:
    """What counts on the board of `result` under `decisions`.

    `case_count` is the number of the suite's cases, None for the stored ones.
    """
    raised = _raised(result)
    pending = tuple(flag for flag, where in raised if _undecided(flag, decisions.on(flag.id, where)))
    if result.score is None or result.compile_points is None or result.correct_points is None:
        return Published(None, withheld=False, open=pending)
    if Decision.VOID in decisions.by_flag.values():
        return Published(0.0, withheld=False, open=pending)
    if any(flag.severity is Severity.HOLD for flag in pending):
        return Published(None, withheld=True, open=pending)
    fixed = result.compile_points + result.correct_points
    counted = _counted(result, decisions)
    count = len(result.cases) if case_count is None else case_count
    return Published(fixed + performance_points(counted, max(count, 1), weights), withheld=False, open=pending)


def _counted(result: OperatorResult, decisions: Decisions) -> list[float]:
    if not result.performance_points or _performance_rejected(result, decisions):
        return []
    return [
        counted_hap(case.hap, decisions.on(FlagId.FASTER_THAN_LIMIT, _name(case)))
        for case in result.cases
        if case.accepted and case.hap is not None
    ]


def _performance_rejected(result: OperatorResult, decisions: Decisions) -> bool:
    """Whether a flag on the operator as a whole was rejected, which takes its performance points."""
    return any(decisions.by_flag.get((flag.id, None)) is Decision.REJECTED for flag in result.flags)


def _raised(result: OperatorResult) -> list[tuple[Flag, str | None]]:
    on_operator: list[tuple[Flag, str | None]] = [(flag, None) for flag in result.flags]
    return on_operator + [(flag, _name(case)) for case in result.cases for flag in case.flags]


def _undecided(flag: Flag, decision: Decision) -> bool:
    return flag.severity is not Severity.NOTE and decision is Decision.PENDING


def _name(case: CaseResult) -> str:
    return f"{case.split}/{case.case_id}"
