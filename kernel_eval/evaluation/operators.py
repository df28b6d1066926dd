"""One operator from its first case to its score."""

from __future__ import annotations

from kernel_eval.evaluation.budget import OperatorBudget
from kernel_eval.evaluation.correctness import judge_cases
from kernel_eval.evaluation.interfaces import missing_message
from kernel_eval.evaluation.session import Session
from kernel_eval.evaluation.timed import time_cases
from kernel_eval.model import (
    Build,
    CaseResult,
    Flag,
    Operator,
    OperatorFinished,
    OperatorResult,
    OperatorStarted,
    Suite,
    Verdict,
)
from kernel_eval.score import failure_message, score_operator


def judge_operators(session: Session, build: Build) -> list[OperatorResult]:
    """All operators of the suite in its order; those set aside while building failed to build."""
    results = []
    total = len(session.suite.operators)
    for position, operator in enumerate(session.suite.operators, 1):
        cases = session.suite.cases_of(operator.name)
        session.tell(OperatorStarted(operator.name, position, total, len(cases)))
        result = _judged(session, operator, build)
        results.append(result)
        session.tell(OperatorFinished(result))
    return results


def _judged(session: Session, operator: Operator, build: Build) -> OperatorResult:
    excerpt, timed = build.set_aside.get(operator.name), session.settings.timed
    if excerpt is not None:
        return unbuilt_operator(session.suite, operator, "the operator failed to compile", excerpt, timed)
    if session.matching is not None and operator.name in session.matching.missing:
        message = missing_message(operator, session.matching)
        return unbuilt_operator(session.suite, operator, message, "", timed, verdict=Verdict.LOAD_FAILED)
    return judge_operator(session, operator)


def judge_operator(session: Session, operator: Operator) -> OperatorResult:
    """Correctness of every case, then the time of the accepted ones, then the score."""
    cases = session.suite.cases_of(operator.name)
    budget = OperatorBudget(session.settings.op_timeout_s)
    results = judge_cases(session, operator, cases, budget)
    flags: list[Flag] = []
    if session.settings.timed:
        results, flags = time_cases(session, operator, results, budget)
    return score_operator(
        operator.name,
        operator.level,
        results,
        len(cases),
        timed=session.settings.timed,
        flags=flags,
        message=failure_message(results),
    )


def unbuilt_operator(
    suite: Suite,
    operator: Operator,
    message: str,
    excerpt: str,
    timed: bool,
    *,
    verdict: Verdict = Verdict.BUILD_FAILED,
) -> OperatorResult:
    """An operator of which nothing could be built, or nothing loaded: every case failed, none is missing."""
    cases = suite.cases_of(operator.name)
    rule = "build" if verdict is Verdict.BUILD_FAILED else str(verdict)
    results = [CaseResult(case.operator, case.case_id, case.split, verdict, rule, message) for case in cases]
    return score_operator(
        operator.name,
        operator.level,
        results,
        len(cases),
        timed=timed,
        verdict=verdict,
        message=message,
        log_excerpt=excerpt,
    )
