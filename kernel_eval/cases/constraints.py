"""Structured inputs: an operator's own `constrain` rewrites drawn values that must keep a structure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from kernel_eval.cases.attributes import call_attributes
from kernel_eval.cases.draws import Draws
from kernel_eval.cases.operator_source import operator_function
from kernel_eval.cases.streams import stream
from kernel_eval.errors import GoldenFault
from kernel_eval.model import Case, Operator, tensor_shapes


def apply_constraints(operator: Operator, case: Case, tensors: Sequence[torch.Tensor], seed: bytes, trial: int) -> None:
    """Call `constrain(draws, **inputs, **attributes)` of the golden's file, where it has one.

    It changes the tensors in place. `draws` is a `Draws` with a stream of its own
    per case and trial; attributes include the declared defaults. Raises
    `GoldenFault` where it raises.
    """
    if operator.foreign is not None:
        return  # its own hooks run in a box
    constrain = operator_function(operator.folder, "constrain")
    if constrain is None:
        return
    draws = Draws(stream(seed, case.key, trial, "constrain"))
    try:
        constrain(draws, **named_inputs(operator, case, tensors), **call_attributes(operator, case))
    except Exception as error:
        raise GoldenFault(f"{case.key}: constrain raised {type(error).__name__}: {error}") from error


def named_inputs(operator: Operator, case: Case, tensors: Sequence[torch.Tensor]) -> dict[str, Any]:
    """The flat tensors as keyword arguments: a tensor, a list, or None for an omitted input."""
    rest = list(tensors)
    named: dict[str, Any] = {}
    for spec, entry in zip(operator.inputs, case.shapes, strict=True):
        count = len(tensor_shapes(entry))
        own, rest = rest[:count], rest[count:]
        named[spec.name] = None if entry is None else own if spec.tensor_list else own[0]
    return named
