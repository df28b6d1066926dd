"""Case sets that are known to cover what they must."""

from __future__ import annotations

from collections.abc import Sequence

from kernel_eval.errors import InternalError
from kernel_eval.model import Case, Operator, Split
from kernel_eval.suite.generate import PUBLIC_COUNT, generate_cases
from kernel_eval.suite.space import CaseSpace
from kernel_eval.suite.validate import coverage_faults

_ROUNDS = 16


def covering_cases(
    operator: Operator, space: CaseSpace, split: Split, count: int, seed: bytes, taken: Sequence[Case] = ()
) -> tuple[Case, ...]:
    """The first generated set below `seed` that the validator accepts.

    Sets of fewer than 20 cases cannot cover everything and are taken as they come.
    Raises `InternalError` where the declared shape space does not allow the coverage.
    """
    faults: Sequence[object] = ()
    for attempt in range(_ROUNDS):
        cases = generate_cases(operator, space, split, count, seed + bytes([attempt]), taken)
        faults = coverage_faults(operator, space, cases) if count >= PUBLIC_COUNT else ()
        if not faults:
            return cases
    raise InternalError(f"{operator.name}: no covering set in {_ROUNDS} rounds; the last one: {faults[0]}")
