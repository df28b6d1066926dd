"""What a boxed golden claims to return, checked against its declaration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kernel_eval.errors import GoldenFault
from kernel_eval.model import (
    ITEM_BYTES,
    Case,
    Claim,
    Container,
    Operator,
    OutputSpec,
    ResultSpec,
    TensorClaim,
    TensorSpec,
)

MOST_IN_LIST = 64
LARGEST_RANK = 8
_ODD = TensorSpec("float8_e5m2", (0,) * LARGEST_RANK)
"""Hardly anybody's result, so that a golden that is asked with it says what it returns instead."""
PLACEHOLDERS: Mapping[bool, ResultSpec] = {
    False: ResultSpec("", (_ODD,)),
    True: ResultSpec("", (_ODD,) * MOST_IN_LIST, tensor_list=True),
}


def claimed_results(
    operator: Operator, case: Case, claims: Sequence[Claim], most_bytes: int, *, seen: bool
) -> tuple[ResultSpec, ...]:
    """The results that the claims describe. `seen`: behind `get_output`, where no dtype is declared.

    Raises `GoldenFault` where they contradict the declaration, or exceed `most_bytes` in all.
    """
    if len(claims) != len(operator.outputs):
        raise GoldenFault(
            f"{case.key}: its golden returned {len(claims)} outputs, declared are {len(operator.outputs)}"
        )
    results = tuple(
        ResultSpec(spec.name, tuple(_tensors(claim, spec, operator, case, seen=seen)), spec.tensor_list)
        for claim, spec in zip(claims, operator.outputs, strict=True)
    )
    total = sum(tensor.size_bytes for result in results for tensor in result.tensors)
    if total > most_bytes:
        raise GoldenFault(f"{case.key}: its golden claims {total} bytes of outputs, at most {most_bytes} are given")
    return results


def _tensors(claim: Claim, spec: OutputSpec, operator: Operator, case: Case, *, seen: bool) -> list[TensorSpec]:
    wanted = (Container.LIST, Container.TUPLE) if spec.tensor_list else (Container.TENSOR,)
    if claim.container not in wanted:
        form = "a list of tensors" if spec.tensor_list else "a tensor"
        raise GoldenFault(f"{case.key}: its golden's {spec.name} must be {form}, is {claim.type_name or 'none'}")
    if claim.count != len(claim.tensors):
        raise GoldenFault(f"{case.key}: its golden's {spec.name} has {claim.count} tensors, at most {MOST_IN_LIST}")
    return [_tensor(tensor, spec, operator, case, seen=seen) for tensor in claim.tensors]


def _tensor(claim: TensorClaim, spec: OutputSpec, operator: Operator, case: Case, *, seen: bool) -> TensorSpec:
    where = f"{case.key}: its golden's {spec.name}"
    if not claim.exact_type or not claim.on_device or claim.dtype not in ITEM_BYTES:
        raise GoldenFault(f"{where} is no plain tensor of a known dtype")
    if len(claim.shape) > LARGEST_RANK or any(not 0 <= size < 1 << 40 for size in claim.shape):
        raise GoldenFault(f"{where} has the shape {list(claim.shape)}")
    allowed = () if seen else _allowed(spec, operator, case)
    if allowed and claim.dtype not in allowed:
        raise GoldenFault(f"{where} is {claim.dtype}, declared is {' or '.join(allowed)}")
    return TensorSpec(claim.dtype, claim.shape)


def _allowed(spec: OutputSpec, operator: Operator, case: Case) -> tuple[str, ...]:
    if spec.dtype.startswith("same as "):
        names = [each.name for each in operator.inputs]
        return (case.dtypes[names.index(spec.dtype.removeprefix("same as "))],)
    return spec.dtypes if spec.dtype == "golden" else (spec.dtype,)
