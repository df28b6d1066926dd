"""Looks at what an operator returned and says so to the judge. Runs inside a box."""

from __future__ import annotations

from typing import Any

import torch

from kernel_eval.device.cpu import CpuDevice
from kernel_eval.runner.protocol import (
    CONTAINERS,
    CONTIGUOUS,
    DTYPES,
    EXACT_TYPE,
    MOST_DIMENSIONS,
    ON_DEVICE,
    Kind,
    Message,
)


def outputs_of(returned: Any, declared: int) -> list[Any]:
    """The returned outputs: the value itself for one declared output, else the members of a list or tuple."""
    if declared == 1 or type(returned) not in (list, tuple):
        return [returned]
    return list(returned)


def flat_tensors(returned: Any, declared: int) -> list[Any]:
    """All returned tensors in order, of a value whose structure is as declared."""
    flat: list[Any] = []
    for output in outputs_of(returned, declared) if declared else ():
        flat += output if isinstance(output, (list, tuple)) else [output]
    return flat


def _tensor_message(tensor: Any, device: CpuDevice) -> Message:
    if type(tensor) is not torch.Tensor or getattr(tensor, "__dict__", None):
        return Message(Kind.TENSOR, (), type(tensor).__name__.encode("utf-8", "replace"))
    name = str(tensor.dtype).removeprefix("torch.")
    dtype = DTYPES.index(name) + 1 if name in DTYPES else 0
    on_device = device.holds(tensor)
    plain = on_device and tensor.is_contiguous() and not tensor.is_neg() and not tensor.is_conj()
    flags = EXACT_TYPE | (ON_DEVICE if on_device else 0) | (CONTIGUOUS if plain else 0)
    sizes = tuple(tensor.shape)[:MOST_DIMENSIONS]
    return Message(Kind.TENSOR, (flags, dtype, tensor.dim(), *sizes), b"Tensor")


def _output_messages(output: Any, device: CpuDevice, most: int) -> list[Message]:
    kind = {torch.Tensor: 0, list: 1, tuple: 2}.get(type(output), 0 if isinstance(output, torch.Tensor) else 3)
    members = list(output) if kind in (1, 2) else [output] * (kind == 0)
    name = type(output).__name__.encode("utf-8", "replace")
    head = Message(Kind.OUTPUT, (kind, len(members)), name)
    return [head, *(_tensor_message(member, device) for member in members[:most])]


def claims(returned: Any, results: list[list[Any]], device: CpuDevice) -> list[Message]:
    """One OUTPUT per returned output, each followed by its tensors; no more tensors than declared."""
    outputs = outputs_of(returned, len(results))[: len(results) + 1]
    most = [len(group) for _, group in results] + [0]
    return [m for output, limit in zip(outputs, most, strict=False) for m in _output_messages(output, device, limit)]


def declared_claims(results: list[list[Any]]) -> list[Message]:
    """The claims of a value that is exactly as declared; a list stands for list and tuple alike."""
    expected = []
    flags = EXACT_TYPE | CONTIGUOUS | ON_DEVICE
    for is_list, group in results:
        expected.append(Message(Kind.OUTPUT, (CONTAINERS.index("list" if is_list else "tensor"), len(group))))
        for dtype, shape, _, _ in group:
            expected.append(Message(Kind.TENSOR, (flags, DTYPES.index(dtype) + 1, len(shape), *shape)))
    return expected


def as_declared(found: list[Message], results: list[list[Any]]) -> bool:
    """Whether claims are those of the declaration, whatever the names of types."""
    tuple_kind, list_kind = CONTAINERS.index("tuple"), CONTAINERS.index("list")
    plain = [
        m._replace(values=(list_kind, *m.values[1:])) if m.kind is Kind.OUTPUT and m.values[0] == tuple_kind else m
        for m in found
    ]
    return [(m.kind, m.values) for m in plain] == [(m.kind, m.values) for m in declared_claims(results)]
