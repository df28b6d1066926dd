"""From a case to the call that a child is asked for."""

from __future__ import annotations

from kernel_eval.cases.inputs import argument_specs, call_attributes
from kernel_eval.model import CallSpec, Case, Operator, ResultSpec


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
