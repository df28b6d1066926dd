"""Second phase of an operator: the time of every accepted case, alone on its cores."""

from __future__ import annotations

import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kernel_eval.errors import InternalError, SandboxIncomplete
from kernel_eval.evaluation.budget import OperatorBudget
from kernel_eval.evaluation.evidence import case_flags, operator_flags
from kernel_eval.evaluation.known import KnownOutputs
from kernel_eval.evaluation.session import Session, TimingStand
from kernel_eval.hap import cpu_limit
from kernel_eval.model import (
    NO_LIMIT,
    Case,
    CaseResult,
    CaseTimed,
    Flag,
    FlagId,
    Limit,
    Measurement,
    MeasurementState,
    Operator,
    Provenance,
    Severity,
    Verdict,
)
from kernel_eval.score.case import score_case
from kernel_eval.timing.bench import Subject, Timing
from kernel_eval.timing.cpu import measure
from kernel_eval.timing.plan import expected_us, plan_of

ATTEMPTS = 3
"""How often a case is measured where no usable time came of it."""

CONTROL_EVERY = 20
"""Before every so many cases of an operator the control kernel is timed."""


def time_cases(
    session: Session, operator: Operator, results: Sequence[CaseResult], budget: OperatorBudget
) -> tuple[list[CaseResult], list[Flag]]:
    """The results with times for those that were accepted, and flags on the operator as a whole.

    A failure while timed changes a case's verdict. What has no time has its limit all the same.
    """
    cases = {(case.split, case.case_id): case for case in session.suite.cases_of(operator.name)}
    accepted = sum(result.accepted for result in results)
    done: list[CaseResult] = []
    ratios: list[float] = []
    position = 0
    for result in results:
        if result.accepted:
            session.stop_if_asked()
            if session.stand is not None and position % CONTROL_EVERY == 0:
                session.stand.control.sample()
            position += 1
            result = _time_case(session, operator, cases[result.split, result.case_id], result, budget, ratios)
            session.tell(CaseTimed(result, result.split, position, accepted))
        if result.limit is None:
            result = _untimed(session, operator, cases[result.split, result.case_id], result)
        done.append(result)
    return done, operator_flags(operator, ratios)


def _untimed(session: Session, operator: Operator, case: Case, result: CaseResult) -> CaseResult:
    """The case with what is known of it without a time: its limit, and its baseline if one was measured before."""
    anchor = session.anchors.anchors.get(case.key) if session.anchors else None
    if anchor is None:
        pool_bytes = plan_of(operator, case, session.peaks).pool_bytes
        return replace(result, limit=_limit(session, operator, case, pool_bytes))
    measured = anchor.provenance is Provenance.MEASURED
    return replace(result, limit=anchor.limit, anchor_us=anchor.baseline_us if measured else None)


def _limit(session: Session, operator: Operator, case: Case, pool_bytes: int) -> Limit:
    return NO_LIMIT if operator.foreign else cpu_limit(operator, case, session.peaks, pool_bytes)


def _time_case(
    session: Session, operator: Operator, case: Case, result: CaseResult, budget: OperatorBudget, ratios: list[float]
) -> CaseResult:
    if budget.exhausted:
        return replace(result, verdict=Verdict.TIMED_OUT, rule="budget", message=budget.exhausted)
    fault: Exception | None = None
    for _ in range(ATTEMPTS):
        try:
            return _measured(session, operator, case, result, budget, ratios)
        except SandboxIncomplete:
            raise
        except (InternalError, OSError, MemoryError) as ours:
            fault = ours
    message = f"{type(fault).__name__}: {fault}"
    unmeasured = Measurement(MeasurementState.NOT_MEASURED, message=message)
    return replace(result, verdict=Verdict.INTERNAL_ERROR, rule="not_measured", message=message, candidate=unmeasured)


def _measured(
    session: Session, operator: Operator, case: Case, result: CaseResult, budget: OperatorBudget, ratios: list[float]
) -> CaseResult:
    trial = measure_case(session, operator, case)
    budget.charge(trial.timing.candidate_s)
    if trial.timing.failed:
        if trial.timing.verdict is Verdict.TIMED_OUT:
            budget.count_time_out()
        return _failed(result, trial.timing)
    found = case_flags(case, trial.timing, session.settings.threads)
    if operator.foreign is not None and operator.foreign.draws_inputs:
        # Batches of so few calls differ by chance.
        found = [flag for flag in found if flag.id is not FlagId.BATCH_NONLINEAR]
    else:
        ratios.append(trial.timing.short_ratio)
    flags = (*result.flags, *found)
    anchor = session.anchors.anchors.get(case.key) if session.anchors else None
    return replace(
        result,
        candidate=trial.timing.candidate,
        baseline=trial.timing.baseline,
        limit=anchor.limit if anchor else trial.limit,
        anchor_us=anchor.baseline_us if anchor else None,
        flags=flags,
        seconds=result.seconds + trial.seconds,
    )


@dataclass(frozen=True)
class Trial:
    """What one attempt at timing a case gave: the timing, this host's limit for its plan, its duration."""

    timing: Timing
    limit: Limit
    seconds: float


def measure_case(session: Session, operator: Operator, case: Case) -> Trial:
    """Time a case of an accepted candidate. Raises `NotMeasured` and `GoldenFault`."""
    stand = session.stand
    if stand is None:
        raise ValueError("the session was opened without timing")
    started = time.monotonic()
    call = session.call_of(operator, case)
    plan = plan_of(operator, case, session.peaks)
    known = KnownOutputs(session.goldens, operator, case, plan.known, stand.bench.pool)
    stand.overheads.prepare(call)
    limit = _limit(session, operator, case, plan.pool_bytes)
    limit_us = None if operator.foreign else limit.limit_us
    subject = Subject(
        operator=operator.name,
        candidate=session.candidate_call(operator, call),
        baseline=call,
        plan=plan,
        fill=lambda places, played: _fill(session, stand, operator, case, places, played),
        verify=known.verify,
        overhead_us=lambda calls: stand.overheads.batch_us(call, calls),
        expected_us=expected_us(plan.bytes_per_call),
        score=lambda baseline_us, candidate_us: score_case(baseline_us, limit_us, candidate_us).published,
        seed=zlib.crc32(case.key.encode()),
    )
    timing = measure(stand.bench, subject)
    return Trial(timing, limit, time.monotonic() - started)


def _fill(
    session: Session,
    stand: TimingStand,
    operator: Operator,
    case: Case,
    places: Sequence[int],
    played: Sequence[int],
) -> None:
    pool = stand.bench.pool
    if operator.foreign is not None and operator.foreign.draws_inputs:
        # No decoy repeats a known input: further trials, of which nobody computes the golden.
        places = [*places, *sorted(set(played) - set(places))]
    else:
        stand.decoys.fill(operator, case, pool.input_columns(), sorted(map(pool.place, played)))
    for trial, index in enumerate(places):
        session.goldens.fill(operator, case, trial, pool.inputs(index))


def _failed(result: CaseResult, timing: Timing) -> CaseResult:
    if timing.comparison is None:
        detail = timing.play.detail if timing.play else ""
        status = str(timing.play.status) if timing.play else ""
        return replace(result, verdict=timing.verdict, rule=status, message=f"while timed: {detail}")
    message = f"in a timed process: {timing.comparison.message}"
    evidence = {
        "rule": timing.comparison.rule,
        "mean_re": timing.comparison.mean_re,
        "max_re": timing.comparison.max_re,
    }
    why = "right when played alone, wrong on a known input of a timed batch"
    flag = Flag(FlagId.KNOWN_OUTPUT_MISMATCH, Severity.HOLD, result.operator, result.case_id, why, evidence)
    return replace(
        result,
        verdict=timing.verdict,
        rule=timing.comparison.rule,
        message=message,
        comparison=timing.comparison,
        flags=(*result.flags, flag),
    )
