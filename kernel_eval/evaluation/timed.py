"""Second phase of an operator: the time of every accepted case, alone on its cores."""

from __future__ import annotations

import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kernel_eval.errors import InternalError, SandboxIncomplete
from kernel_eval.evaluation.budget import OperatorBudget
from kernel_eval.evaluation.calls import call_of, plan_of
from kernel_eval.evaluation.known import KnownOutputs
from kernel_eval.evaluation.session import Session, TimingStand
from kernel_eval.guard import cpu_above_wall
from kernel_eval.hap import cpu_limit
from kernel_eval.model import (
    Case,
    CaseResult,
    CaseTimed,
    Flag,
    FlagId,
    Limit,
    Measurement,
    MeasurementState,
    Operator,
    Severity,
    Verdict,
)
from kernel_eval.timing.cpu import Subject, Timing, measure
from kernel_eval.timing.plan import Plan, expected_us

ATTEMPTS = 3
"""How often a case is measured where no usable time came of it."""


def time_cases(
    session: Session, operator: Operator, results: Sequence[CaseResult], budget: OperatorBudget
) -> list[CaseResult]:
    """The results with times for those that were accepted. A failure while timed changes a case's verdict."""
    cases = {(case.split, case.case_id): case for case in session.suite.cases_of(operator.name)}
    accepted = sum(result.accepted for result in results)
    done: list[CaseResult] = []
    position = 0
    for result in results:
        if result.accepted:
            session.stop_if_asked()
            position += 1
            result = _time_case(session, operator, cases[result.split, result.case_id], result, budget)
            session.tell(CaseTimed(result, result.split, position, accepted))
        done.append(result)
    return done


def _time_case(
    session: Session, operator: Operator, case: Case, result: CaseResult, budget: OperatorBudget
) -> CaseResult:
    if budget.exhausted:
        return replace(result, verdict=Verdict.TIMED_OUT, rule="budget", message=budget.exhausted)
    fault: Exception | None = None
    for _ in range(ATTEMPTS):
        try:
            return _measured(session, operator, case, result, budget)
        except SandboxIncomplete:
            raise
        except (InternalError, OSError, MemoryError) as ours:
            fault = ours
    message = f"{type(fault).__name__}: {fault}"
    unmeasured = Measurement(MeasurementState.NOT_MEASURED, message=message)
    return replace(result, verdict=Verdict.INTERNAL_ERROR, rule="not_measured", message=message, candidate=unmeasured)


def _measured(
    session: Session, operator: Operator, case: Case, result: CaseResult, budget: OperatorBudget
) -> CaseResult:
    trial = measure_case(session, operator, case)
    budget.charge(trial.timing.candidate_s)
    if trial.timing.failed:
        if trial.timing.verdict is Verdict.TIMED_OUT:
            budget.count_time_out()
        return _failed(result, trial.timing)
    flags = (*result.flags, *_flags(session, case, trial.timing))
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
    call = call_of(operator, case)
    plan = plan_of(case, session.peaks)
    known = KnownOutputs(session.goldens, operator, case, plan.known, stand.bench.pool)
    stand.overheads.prepare(call)
    subject = Subject(
        candidate=call,
        baseline=call,
        plan=plan,
        fill=lambda: _fill(session, stand, operator, case, plan),
        verify=known.verify,
        overhead_us=lambda calls: stand.overheads.batch_us(call, calls),
        expected_us=expected_us(plan.bytes_per_call),
        seed=zlib.crc32(case.key.encode()),
    )
    timing = measure(stand.bench, subject)
    limit = cpu_limit(operator, case, session.peaks, plan.pool_bytes)
    return Trial(timing, limit, time.monotonic() - started)


def _fill(session: Session, stand: TimingStand, operator: Operator, case: Case, plan: Plan) -> None:
    pool = stand.bench.pool
    for index in range(plan.known):
        session.goldens.fill(operator, case, index, pool.inputs(index))
    if plan.count > plan.known:
        stand.decoys.fill(operator, case, [column[plan.known :] for column in pool.input_columns()])


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


def _flags(session: Session, case: Case, timing: Timing) -> list[Flag]:
    flags = []

    def add(flag: FlagId, severity: Severity, message: str, evidence: dict[str, object]) -> None:
        flags.append(Flag(flag, severity, case.operator, case.case_id, message, evidence))

    if timing.nonlinear:
        message = "a batch of half the length takes another time per call"
        add(FlagId.BATCH_NONLINEAR, Severity.HOLD, message, {"short_us": timing.short_us, "us": timing.candidate_us})
    if timing.unstable:
        message = "the times of the processes lie far apart"
        add(FlagId.UNSTABLE_TIMING, Severity.NOTE, message, {})
    threads = session.settings.threads
    excess = [
        play for play in timing.plays if play.elapsed_ns and cpu_above_wall(play.cpu_ns, play.elapsed_ns, threads)
    ]
    if excess:
        message = "more CPU time in a batch than its cores can give"
        pairs = [[play.cpu_ns, play.elapsed_ns] for play in excess]
        add(FlagId.CPU_ABOVE_WALL, Severity.REVIEW, message, {"cpu_ns_and_elapsed_ns": pairs, "cores": threads})
    return flags
