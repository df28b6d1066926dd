"""From a case to the call that a child is asked for."""

from __future__ import annotations

from kernel_eval.cases.inputs import argument_specs, call_attributes
from kernel_eval.model import ITEM_BYTES, CallSpec, Case, Operator, ResultSpec, Suite, element_count


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


def largest_input_bytes(suite: Suite) -> int:
    """Bytes of the inputs of the suite's largest case; outputs of no operator here exceed them by more than twice."""
    return max((element_count(case) * max(ITEM_BYTES[d] for d in case.dtypes) for case in suite.cases), default=0)
