"""Inputs of a case: what they look like, and their values."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import torch

from kernel_eval.cases.attributes import call_attributes as call_attributes
from kernel_eval.cases.constraints import apply_constraints
from kernel_eval.cases.distributions import fill_stretch, fill_tensor, finish_tensor, shift_floats
from kernel_eval.cases.streams import STRETCH
from kernel_eval.model import ArgumentSpec, Case, Operator, TensorSpec, ValueRange, tensor_shapes

SMALL_ELEMENTS = 1 << 19
"""Below this many elements threads cost more than they save."""
StreamPath = tuple[str | int, ...]
SECOND_TRIAL = 1 << 30
"""The trial of a second look at correctness: streams of its own, and every float moved by `SHIFT`."""
SHIFT = 0.01


def argument_specs(operator: Operator, case: Case) -> tuple[ArgumentSpec, ...]:
    """The operator's inputs as the case declares them, in the order of the schema."""
    return tuple(
        ArgumentSpec(spec.name, tuple(TensorSpec(dtype, shape) for shape in tensor_shapes(entry)), spec.tensor_list)
        for spec, entry, dtype in zip(operator.inputs, case.shapes, case.dtypes, strict=True)
    )


def tensor_specs(operator: Operator, case: Case) -> tuple[TensorSpec, ...]:
    """All input tensors in argument order, lists flattened."""
    return tuple(tensor for argument in argument_specs(operator, case) for tensor in argument.tensors)


def make_inputs(operator: Operator, case: Case, seed: bytes, trial: int) -> list[torch.Tensor]:
    """Newly allocated inputs, flat, in argument order."""
    tensors = [torch.empty(spec.shape, dtype=getattr(torch, spec.dtype)) for spec in tensor_specs(operator, case)]
    fill_inputs(operator, case, seed, trial, tensors)
    return tensors


def fill_inputs(operator: Operator, case: Case, seed: bytes, trial: int, into: Sequence[torch.Tensor]) -> None:
    """Write the values of one trial into contiguous CPU tensors of the declared dtypes and shapes.

    Deterministic per (seed, case, trial, input, list entry): an input added to
    an operator changes no other. In `SECOND_TRIAL` the floats are moved before
    structured inputs are built. Raises `ValueError` where `into` does not fit.
    """
    jobs = _jobs(operator, case, trial, into)
    if sum(tensor.numel() for tensor in into) < SMALL_ELEMENTS:
        for tensor, values, path in jobs:
            fill_tensor(tensor, values, seed, path)
    else:
        with ThreadPoolExecutor(_threads()) as threads:
            list(threads.map(lambda task: task(), _stretches(jobs, seed)))
        for tensor, values, _ in jobs:
            finish_tensor(tensor.view(-1), values)
    if trial == SECOND_TRIAL:
        for tensor in into:
            shift_floats(tensor.view(-1), SHIFT)
    apply_constraints(operator, case, into, seed, trial)


def fill_decoys(operator: Operator, case: Case, into: Sequence[Sequence[torch.Tensor]]) -> None:
    """Fill several sets of inputs with values of the same distribution that nobody can foresee."""
    fresh = os.urandom(32)
    largest = max((sum(tensor.numel() for tensor in tensors) for tensors in into), default=0)
    if largest >= SMALL_ELEMENTS or len(into) < 2:
        for trial, tensors in enumerate(into):
            fill_inputs(operator, case, fresh, trial, tensors)
        return
    with ThreadPoolExecutor(_threads()) as threads:
        list(threads.map(partial(fill_inputs, operator, case, fresh), range(len(into)), into))


def _jobs(
    operator: Operator, case: Case, trial: int, into: Sequence[torch.Tensor]
) -> list[tuple[torch.Tensor, ValueRange, StreamPath]]:
    """One (tensor, range, path of its streams) per flat input."""
    specs = argument_specs(operator, case)
    wanted = [
        (tensor, values, argument.name, index)
        for argument, values in zip(specs, case.value_ranges, strict=True)
        for index, tensor in enumerate(argument.tensors)
    ]
    if len(wanted) != len(into):
        raise ValueError(f"{case.key}: needs {len(wanted)} tensors, got {len(into)}")
    jobs: list[tuple[torch.Tensor, ValueRange, StreamPath]] = []
    for tensor, (spec, values, name, index) in zip(into, wanted, strict=True):
        if (
            tuple(tensor.shape) != spec.shape
            or tensor.dtype != getattr(torch, spec.dtype)
            or not tensor.is_contiguous()
        ):
            raise ValueError(f"{case.key}: {name}[{index}] must be a contiguous {spec.dtype} tensor of {spec.shape}")
        jobs.append((tensor, values, (case.key, trial, name, index)))
    return jobs


def _stretches(jobs: Sequence[tuple[torch.Tensor, ValueRange, StreamPath]], seed: bytes) -> list[partial[None]]:
    return [
        partial(fill_stretch, tensor.view(-1)[start : start + STRETCH], values, seed, (*path, start // STRETCH))
        for tensor, values, path in jobs
        for start in range(0, tensor.numel(), STRETCH)
    ]


def _threads() -> int:
    return len(os.sched_getaffinity(0))
