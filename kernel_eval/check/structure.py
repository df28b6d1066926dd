"""Structure before values (`judging.md` section 1, rule 1)."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from kernel_eval.check.tolerances import carrier
from kernel_eval.model import Claim, Comparison, Container, ResultSpec, TensorClaim, TensorSpec, Verdict


def compare_claims(claims: Sequence[Claim], results: Sequence[ResultSpec]) -> Comparison | None:
    """Compare what a child says it returned with what is declared; None where all is as it must be."""
    if len(claims) != len(results):
        return _refused("outputs", f"{len(claims)} outputs were returned, {len(results)} are declared")
    for claim, result in zip(claims, results, strict=True):
        refused = _container(claim, result)
        if refused is not None:
            return refused
        for index, (tensor, wanted) in enumerate(zip(claim.tensors, result.tensors, strict=True)):
            refused = _tensor(tensor, wanted, f"{result.name}[{index}]" if result.tensor_list else result.name)
            if refused is not None:
                return refused
    return None


def compare_tensors(outputs: Sequence[Sequence[torch.Tensor]], results: Sequence[ResultSpec]) -> Comparison | None:
    """The same for tensors at hand."""
    claims = [
        Claim(
            Container.LIST if result.tensor_list else Container.TENSOR,
            len(tensors),
            tuple(claim_of(tensor) for tensor in tensors),
        )
        for tensors, result in zip(outputs, results, strict=False)
    ]
    if len(outputs) != len(results):
        return _refused("outputs", f"{len(outputs)} outputs were returned, {len(results)} are declared")
    return compare_claims(claims, results)


def claim_of(tensor: torch.Tensor) -> TensorClaim:
    """What can be said of a tensor in this process."""
    return TensorClaim(
        exact_type=type(tensor) is torch.Tensor and not getattr(tensor, "__dict__", None),
        dtype=str(tensor.dtype).removeprefix("torch."),
        shape=tuple(tensor.shape),
        contiguous=tensor.is_contiguous(),
        on_device=tensor.device.type == "cpu",
    )


def _container(claim: Claim, result: ResultSpec) -> Comparison | None:
    if result.tensor_list:
        if claim.container not in (Container.LIST, Container.TUPLE):
            return _refused("container", f"{result.name} must be a list or tuple of tensors{_is(claim)}")
        if claim.count != len(result.tensors):
            return _refused("count", f"{result.name} must hold {len(result.tensors)} tensors, holds {claim.count}")
    elif claim.container is not Container.TENSOR:
        return _refused("container", f"{result.name} must be a tensor{_is(claim)}")
    if len(claim.tensors) != len(result.tensors):
        return _refused("count", f"{result.name} must hold {len(result.tensors)} tensors, holds {len(claim.tensors)}")
    return None


def _is(claim: Claim) -> str:
    return f", is {claim.type_name}" if claim.type_name else ""


def _tensor(claim: TensorClaim, wanted: TensorSpec, name: str) -> Comparison | None:
    if not claim.exact_type:
        return _refused("type", f"{name} must be exactly torch.Tensor, no subclass, without attributes of its own")
    if not claim.on_device:
        return _refused("device", f"{name} must be on the device of the inputs")
    if claim.dtype != carrier(wanted.dtype):
        return _refused(
            "dtype", f"{name} must be {carrier(wanted.dtype)}, is {claim.dtype or 'a dtype the judge does not know'}"
        )
    if claim.shape != wanted.shape:
        return _refused("shape", f"{name} must have the shape {wanted.shape}, has {claim.shape}")
    if not claim.contiguous:
        return _refused("contiguity", f"{name} must be contiguous")
    return None


def _refused(rule: str, message: str) -> Comparison:
    return Comparison(Verdict.WRONG_STRUCTURE, f"structure.{rule}", message)
