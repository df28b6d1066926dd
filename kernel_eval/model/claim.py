"""What a child says of the values an operator returned. A claim is never taken for a fact."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from kernel_eval.model.case import Shape


class Container(StrEnum):
    """Kind of a returned output: a tensor, exactly `list`, exactly `tuple`, or anything else."""

    TENSOR = "tensor"
    LIST = "list"
    TUPLE = "tuple"
    OTHER = "other"


@dataclass(frozen=True)
class TensorClaim:
    """One returned tensor.

    `exact_type`: `type(t) is torch.Tensor` without instance attributes; where it is
    False the other fields mean nothing. `dtype` is torch's name without its prefix,
    empty for one the judge does not know. `on_device`: it lies on the case's device.
    """

    exact_type: bool
    dtype: str
    shape: Shape
    contiguous: bool
    on_device: bool


@dataclass(frozen=True)
class Claim:
    """One returned output: a tensor (`count` 1), or a container of `count` tensors.

    `type_name` is the Python type's name as the child says it, made printable.
    """

    container: Container
    count: int
    tensors: tuple[TensorClaim, ...]
    type_name: str = ""
