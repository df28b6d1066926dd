"""Short ways to say what is called."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from kernel_eval.model import ArgumentSpec, CallSpec, ResultSpec, TensorSpec
from kernel_eval.runner.pool import Pool

Shape = tuple[int, ...]


def floats(*shape: int) -> TensorSpec:
    return TensorSpec("float32", shape)


def call_of(
    function: str,
    shape: Shape = (1000,),
    results: Sequence[ResultSpec] | None = None,
    in_place: bool = False,
    **attributes: int | float | str | bool,
) -> CallSpec:
    """A call with one float32 input `x` and, by default, one result of its shape."""
    tensor = floats(*shape)
    declared = tuple(results) if results is not None else (ResultSpec("y", (tensor,)),)
    return CallSpec(function, (ArgumentSpec("x", (tensor,)),), attributes, declared, in_place)


def fill(pool: Pool, count: int) -> None:
    """Distinct known values in every buffer."""
    for index in range(count):
        for place, tensor in enumerate(pool.inputs(index)):
            values = torch.linspace(0.0, 1.0, tensor.numel()) + index + place / 8
            tensor.copy_(values.reshape(tensor.shape))
