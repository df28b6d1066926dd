"""From a case to the call that a child is asked for, and what it weighs."""

from __future__ import annotations

from dataclasses import replace

from kernel_eval.cases.inputs import argument_specs, call_attributes, tensor_specs
from kernel_eval.hap import CpuPeaks, work_of
from kernel_eval.model import ITEM_BYTES, CallSpec, Case, Operator, ResultSpec, Suite, element_count
from kernel_eval.timing.plan import Plan, make_plan

DRAWN = 32
"""Inputs of a pool that a suite's own code draws, at most."""


def call_of(operator: Operator, case: Case, results: tuple[ResultSpec, ...]) -> CallSpec:
    """The call of the operator's function with the case's arguments and all attributes."""
    foreign = operator.foreign
    return CallSpec(
        function=operator.function,
        arguments=argument_specs(operator, case),
        attributes=call_attributes(operator, case),
        results=results,
        in_place=operator.in_place,
        init=foreign.init if foreign is not None and foreign.module else None,
        seed=foreign.seed if foreign is not None else 0,
    )


def plan_of(operator: Operator, case: Case, peaks: CpuPeaks) -> Plan:
    """How the case is timed on a host with these peaks. Raises `UsageError` for an operator without a cost record.

    Of an imported operator nobody knows the cost: its outputs are taken to be as large as its inputs. Where its own
    code makes the inputs, which costs a process each, a pool has no more than `DRAWN` of them.
    """
    if operator.foreign is not None:
        moved = 2 * sum(spec.size_bytes for spec in tensor_specs(operator, case))
        plan = make_plan(moved, peaks.cache_bytes)
        return replace(plan, count=min(plan.count, DRAWN)) if operator.foreign.draws_inputs else plan
    work = work_of(case)
    return make_plan(work.read_bytes + work.write_bytes, peaks.cache_bytes)


def largest_input_bytes(suite: Suite) -> int:
    """Bytes of the inputs of the suite's largest case; outputs of no operator here exceed them by more than twice."""
    return max((element_count(case) * max(ITEM_BYTES[d] for d in case.dtypes) for case in suite.cases), default=0)
