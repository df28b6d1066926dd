"""First phase of an operator: every case played once, or twice where asked, and compared with its golden.

While one case is played and compared, the next one's process loads the package, and
the golden and inputs of the one after it are made ready in a thread. What the candidate
does costs it its verdict; what we do wrong is tried again and then `internal_error`.
"""

from __future__ import annotations

import itertools
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace

from kernel_eval.cases.inputs import SECOND_TRIAL
from kernel_eval.check import called_with, compare_claims, judge_outputs
from kernel_eval.errors import InternalError, SandboxIncomplete
from kernel_eval.evaluation.budget import OperatorBudget
from kernel_eval.evaluation.session import Session
from kernel_eval.golden.call import Golden
from kernel_eval.guard import attempted
from kernel_eval.model import CallSpec, Case, CaseJudged, CaseResult, Comparison, Operator, Verdict
from kernel_eval.runner.conduct import CaseChild
from kernel_eval.runner.play import Play, PlayStatus
from kernel_eval.runner.single_pool import SinglePool
from kernel_eval.timing.plan import batch_limit_s, expected_us, plan_of

ATTEMPTS = 3
"""How often a case is tried where the fault is ours."""
AHEAD = 2
"""Cases made ready while one is played: the next one's process is begun, the inputs of the one after it drawn."""


@dataclass(frozen=True)
class Prepared:
    """A case whose inputs of a trial lie in buffer 0 of `pool` and whose golden is at hand."""

    case: Case
    trial: int
    call: CallSpec
    golden: Golden
    pool: SinglePool


@dataclass
class Turn:
    """A case that is being made ready, and its process as soon as that is begun."""

    case: Case
    pool: SinglePool
    ready: Future[Prepared]
    child: CaseChild | None = None

    def begin(self, session: Session) -> None:
        """Begin its process if all that needs is there. A fault of ours shows when its turn has come."""
        if self.child is None and self.ready.done() and self.ready.exception() is None:
            with suppress(InternalError, OSError, MemoryError):
                self.child = _begun(session, self.ready.result())

    def take_child(self, session: Session, prepared: Prepared) -> CaseChild:
        """The process begun before, once, or a new one."""
        child, self.child = self.child, None
        return child or _begun(session, prepared)

    def close(self) -> None:
        """End the process of a case that is not played any more."""
        if self.child is not None:
            self.child.close()


def judge_cases(
    session: Session, operator: Operator, cases: Sequence[Case], budget: OperatorBudget
) -> list[CaseResult]:
    """One result per case, in order. Raises `SandboxIncomplete` and `EvaluationStopped`, nothing else of its own."""
    results = []
    with ThreadPoolExecutor(1, "prepare") as executor, ExitStack() as stack:
        pools = itertools.cycle(session.pools)

        def turn(case: Case) -> Turn:
            pool = next(pools)
            made = Turn(case, pool, executor.submit(prepare, session, operator, case, pool))
            stack.callback(made.close)
            return made

        coming = deque(map(turn, cases[:AHEAD]))
        for at, case in enumerate(cases):
            session.stop_if_asked()
            current = coming.popleft()
            coming.extend(map(turn, cases[at + AHEAD : at + AHEAD + 1]))
            result = _judge_case(session, operator, current, coming[0] if coming else None, budget)
            results.append(result)
            session.tell(CaseJudged(result, case.split, at + 1, len(cases)))
    return results


def _begun(session: Session, prepared: Prepared) -> CaseChild:
    return session.candidate.begin_play(prepared.call, prepared.pool, 0)


def prepare(session: Session, operator: Operator, case: Case, pool: SinglePool, trial: int = 0) -> Prepared:
    """Golden and inputs of a trial made ready; with trial 0 the goldens for timing are put into the cache as well."""
    call = session.candidate_call(operator, session.call_of(operator, case))
    pool.lay_out(call, 1)
    golden = session.goldens.prepare(operator, case, trial, pool.inputs(0))
    if session.stand is not None and trial == 0:
        for known in range(1, plan_of(operator, case, session.peaks).known):
            session.goldens.ensure(operator, case, known)
    return Prepared(case, trial, call, golden, pool)


def _judge_case(
    session: Session, operator: Operator, current: Turn, following: Turn | None, budget: OperatorBudget
) -> CaseResult:
    case = current.case
    if budget.exhausted:
        current.ready.cancel()
        current.close()
        return CaseResult(operator.name, case.case_id, case.split, Verdict.TIMED_OUT, "budget", budget.exhausted)
    fault: Exception | None = None
    for attempt in range(ATTEMPTS):
        try:
            prepared = current.ready.result() if attempt == 0 else prepare(session, operator, case, current.pool)
            child = current.take_child(session, prepared)
            if following is not None:
                following.begin(session)
            result = _play_and_compare(session, operator, prepared, child, budget)
            if result.accepted and session.settings.second_trial:
                result = _second_trial(session, operator, result, prepared, budget)
            return result
        except SandboxIncomplete:
            raise
        except (InternalError, OSError, MemoryError) as ours:
            fault = ours
    message = f"{type(fault).__name__}: {fault}"
    return CaseResult(operator.name, case.case_id, case.split, Verdict.INTERNAL_ERROR, "internal", message)


def _second_trial(
    session: Session, operator: Operator, first: CaseResult, played: Prepared, budget: OperatorBudget
) -> CaseResult:
    """The accepted result of the first trial, or the failure of the second, on other inputs."""
    if budget.exhausted:
        return replace(first, verdict=Verdict.TIMED_OUT, rule="budget", message=budget.exhausted)
    prepared = prepare(session, operator, played.case, played.pool, SECOND_TRIAL)
    second = _play_and_compare(session, operator, prepared, _begun(session, prepared), budget)
    seconds = first.seconds + second.seconds
    if second.accepted:
        return replace(first, seconds=seconds)
    return replace(second, seconds=seconds, message=f"in the second trial: {second.message}")


def _play_and_compare(
    session: Session, operator: Operator, prepared: Prepared, child: CaseChild, budget: OperatorBudget
) -> CaseResult:
    started = time.monotonic()
    try:
        limit_s = batch_limit_s(expected_us(plan_of(operator, prepared.case, session.peaks).bytes_per_call), 1)
        play = child.ready().failure or child.run(min(limit_s, max(budget.left_s, 1.0)))
    finally:
        child.close()
    seconds = time.monotonic() - started
    budget.charge(seconds)
    if play.status is PlayStatus.TIMED_OUT:
        budget.count_time_out()
    return _result(session, operator, prepared, play, seconds)


def _result(session: Session, operator: Operator, prepared: Prepared, play: Play, seconds: float) -> CaseResult:
    case, golden = prepared.case, prepared.golden
    structure = None
    if play.status in (PlayStatus.OK, PlayStatus.WRONG_STRUCTURE):
        structure = compare_claims(play.claims, prepared.call.results)
    if structure is not None:
        return CaseResult(
            operator.name, case.case_id, case.split, structure.verdict, structure.rule, structure.message,
            comparison=structure, seconds=seconds,
        )  # fmt: skip
    if play.status.verdict is not None:
        return CaseResult(
            operator.name, case.case_id, case.split, play.status.verdict, str(play.status), play.detail, seconds=seconds
        )
    outputs = session.goldens.finished(operator, case, prepared.pool.outputs(0))
    if isinstance(outputs, Comparison):
        found, tried = outputs, None
    else:
        same_precision = session.goldens.same_precision(operator, case, prepared.trial)
        call = called_with(operator, case, lambda: prepared.pool.inputs(0))
        found = judge_outputs(operator, golden, outputs, same_precision, call)
        tried = attempted(golden.tensors, outputs)
    return CaseResult(
        operator.name, case.case_id, case.split, found.verdict, found.rule, found.message,
        comparison=found, seconds=seconds, attempted=tried,
    )  # fmt: skip
