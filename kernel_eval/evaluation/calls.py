"""From a case to the call that a child is asked for, and what it weighs."""

from __future__ import annotations

from collections.abc import Sequence

from kernel_eval.cases.inputs import argument_specs
from kernel_eval.model import ArgumentSpec, CallSpec, Case, Operator, ResultSpec, Suite, element_count
from kernel_eval.model.tensor import ITEM_BYTES

CALL_US = 3.0
"""What a call costs beyond its data, roughly."""
BYTES_PER_US = 8_000.0
"""A modest memory bandwidth, 8 GB/s: the estimate is meant to be of the right order on any host."""


def call_of(operator: Operator, case: Case, results: Sequence[ResultSpec]) -> CallSpec:
    """The call of the operator's function with the case's arguments and attributes."""
    return CallSpec(
        function=operator.function,
        arguments=argument_specs(operator, case),
        attributes=dict(case.attributes),
        results=tuple(results),
        in_place=operator.in_place,
    )


def call_bytes(call: CallSpec) -> int:
    """Bytes of all inputs and outputs of one call."""
    groups: tuple[ArgumentSpec | ResultSpec, ...] = (*call.arguments, *call.results)
    return sum(tensor.size_bytes for group in groups for tensor in group.tensors)


def expected_us(size_bytes: int) -> float:
    """An estimate of a call's time in µs from its bytes alone.

    It plans batches, so it must not depend on the candidate, nor on the day's peaks.
    """
    return CALL_US + size_bytes / BYTES_PER_US


def largest_input_bytes(suite: Suite) -> int:
    """Bytes of the inputs of the suite's largest case; outputs of no operator here exceed them by more than twice."""
    return max((element_count(case) * max(ITEM_BYTES[d] for d in case.dtypes) for case in suite.cases), default=0)
