"""The shape and dtype of a tensor, and where it lies in a pool. No torch."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kernel_eval.model.case import Attribute, Shape

ITEM_BYTES = {
    "bool": 1,
    "int8": 1,
    "uint8": 1,
    "int16": 2,
    "uint16": 2,
    "int32": 4,
    "uint32": 4,
    "int64": 8,
    "uint64": 8,
    "float16": 2,
    "bfloat16": 2,
    "float32": 4,
    "float64": 8,
    "float8_e4m3fn": 1,
    "float8_e5m2": 1,
}
"""Bytes per element of every dtype the judge knows, by torch's name without its prefix."""


@dataclass(frozen=True)
class TensorSpec:
    """A contiguous tensor's dtype (torch's name without its prefix) and shape."""

    dtype: str
    shape: Shape

    @property
    def elements(self) -> int:
        """Number of elements; 1 for a 0-dim tensor."""
        return math.prod(self.shape)

    @property
    def size_bytes(self) -> int:
        """Bytes of the data."""
        return self.elements * ITEM_BYTES[self.dtype]


@dataclass(frozen=True)
class ArgumentSpec:
    """One input as the operator is called with it.

    `tensors` is empty for an omitted optional input; `tensor_list` says whether
    the argument is a list.
    """

    name: str
    tensors: tuple[TensorSpec, ...]
    tensor_list: bool = False


@dataclass(frozen=True)
class ResultSpec:
    """One declared output of a call: a tensor, or a list of them."""

    name: str
    tensors: tuple[TensorSpec, ...]
    tensor_list: bool = False


@dataclass(frozen=True)
class CallSpec:
    """All that a child needs to call an operator once, besides the data.

    Everything in it comes from the judge; nothing from the candidate.
    """

    function: str
    arguments: tuple[ArgumentSpec, ...]
    attributes: dict[str, Attribute]
    results: tuple[ResultSpec, ...]
    in_place: bool = False
    init: str | None = None
    """For a module class: its arguments as a JSON list; the instance is called. None for a function."""
    seed: int = 0
    """Seed of a module's weights."""
