"""Calling an operator's golden: in FP64 for the reference, in native dtypes for the same-precision run.

Source of the rules: `judging.md` section 1, rules 0 and 5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from kernel_eval.cases.constraints import named_inputs
from kernel_eval.cases.inputs import argument_specs, call_attributes
from kernel_eval.cases.operator_source import operator_function
from kernel_eval.check.chunks import CHUNK, over_chunks
from kernel_eval.check.rounding import cast_once
from kernel_eval.errors import GoldenFault
from kernel_eval.model import ArgumentSpec, Case, Operator, OutputSpec, ResultSpec, Shape, TensorSpec

EIGHT_BIT = (torch.float8_e4m3fn, torch.float8_e5m2)
Outputs = tuple[tuple[torch.Tensor, ...], ...]


@dataclass(frozen=True)
class Golden:
    """The right answer of one call.

    `tensors` holds one tuple per declared output, in the **declared** dtype:
    floats were computed in FP64 and rounded once. `results` says the same in
    dtypes and shapes.
    """

    tensors: Outputs
    results: tuple[ResultSpec, ...]


def reference(operator: Operator, case: Case, inputs: Sequence[torch.Tensor]) -> Golden:
    """The golden for flat `inputs`, evaluated in FP64.

    The inputs stay as they are. An elementwise operator's golden is called piece by piece, on flat tensors, so that
    its temporaries stay in the cache. Raises `GoldenFault` where the golden raises, yields an undeclared NaN or Inf,
    or breaks its declared number of outputs, shapes or dtypes.
    """
    results = result_specs(operator, case)
    if operator.elementwise and _one_shape(inputs, results) and inputs[0].numel() > CHUNK:
        return Golden(_by_pieces(operator, case, inputs, results), results)
    return Golden(_computed(operator, case, inputs, results), results)


def _one_shape(inputs: Sequence[torch.Tensor], results: Sequence[ResultSpec]) -> bool:
    shapes = {tuple(tensor.shape) for tensor in inputs} | {spec.shape for result in results for spec in result.tensors}
    return bool(inputs) and len(shapes) == 1


def _by_pieces(
    operator: Operator, case: Case, inputs: Sequence[torch.Tensor], results: Sequence[ResultSpec]
) -> Outputs:
    """Like `_computed`, for an elementwise golden: `CHUNK` elements at a time, on all cores."""
    outputs = tuple(
        tuple(torch.empty(spec.shape, dtype=getattr(torch, spec.dtype)) for spec in result.tensors)
        for result in results
    )
    flat = [tensor.reshape(-1) for tensor in inputs]

    def piece(start: int, stop: int) -> None:
        parts = [
            replace(result, tensors=tuple(replace(spec, shape=(stop - start,)) for spec in result.tensors))
            for result in results
        ]
        found = _computed(operator, case, [tensor[start:stop] for tensor in flat], parts)
        for whole, part in zip(outputs, found, strict=True):
            for target, tensor in zip(whole, part, strict=True):
                target.view(-1)[start:stop] = tensor

    over_chunks(inputs[0].numel(), piece, CHUNK)
    return outputs


def _computed(operator: Operator, case: Case, inputs: Sequence[torch.Tensor], results: Sequence[ResultSpec]) -> Outputs:
    """The outputs in the declared dtypes."""
    raised = [
        tensor.to(torch.float64, copy=True) if tensor.dtype.is_floating_point else tensor.clone() for tensor in inputs
    ]
    outputs = _call(operator, case, raised)
    return tuple(
        tuple(_declared(tensor, wanted, spec, case) for tensor, wanted in zip(found, result.tensors, strict=True))
        for found, result, spec in zip(_arranged(outputs, results, case), results, operator.outputs, strict=True)
    )


def same_precision(operator: Operator, case: Case, inputs: Sequence[torch.Tensor]) -> Outputs:
    """The golden's code on the native dtypes, in this process and with its threads.

    Eight-bit floats, which torch cannot compute with, are computed in float32 and
    rounded. For verdicts use `kernel_eval.golden.native.NativeRunner`, which pins what this
    leaves to the host. Raises `GoldenFault` like `reference`.
    """
    results = result_specs(operator, case)
    native = [tensor.float() if tensor.dtype in EIGHT_BIT else tensor for tensor in inputs]
    outputs = _arranged(_call(operator, case, native), results, case)
    for found, result in zip(outputs, results, strict=True):
        for tensor, wanted in zip(found, result.tensors, strict=True):
            _check_shape(tensor, wanted, result.name, case)
    return tuple(
        tuple(tensor.to(getattr(torch, wanted.dtype)) for tensor, wanted in zip(found, result.tensors, strict=True))
        for found, result in zip(outputs, results, strict=True)
    )


def result_specs(operator: Operator, case: Case) -> tuple[ResultSpec, ...]:
    """The declared outputs of a case: dtypes and shapes. Runs `result_shapes` of the golden's file where declared."""
    arguments = {argument.name: argument for argument in argument_specs(operator, case)}
    dtypes = dict(zip(arguments, case.dtypes, strict=True))
    shapes = _golden_shapes(operator, case, arguments)
    results = []
    for index, spec in enumerate(operator.outputs):
        dtype = dtypes[spec.dtype.removeprefix("same as ")] if spec.dtype.startswith("same as ") else spec.dtype
        tensors = tuple(TensorSpec(dtype, shape) for shape in _shapes(spec, arguments, shapes, index))
        if not spec.tensor_list and len(tensors) != 1:
            raise GoldenFault(f"{case.key}: output {spec.name} is one tensor, but {len(tensors)} shapes are declared")
        results.append(ResultSpec(spec.name, tensors, spec.tensor_list))
    return tuple(results)


def _shapes(
    spec: OutputSpec, arguments: Mapping[str, ArgumentSpec], golden_shapes: Sequence[Any], index: int
) -> tuple[Shape, ...]:
    if spec.shape.startswith("same as "):
        return tuple(tensor.shape for tensor in arguments[spec.shape.removeprefix("same as ")].tensors)
    if spec.shape == "scalar":
        first = next(iter(arguments.values()))
        return ((),) * (len(first.tensors) if spec.tensor_list else 1)
    entry = golden_shapes[index]
    return tuple(map(tuple, entry)) if spec.tensor_list else (tuple(entry),)


def _golden_shapes(operator: Operator, case: Case, arguments: Mapping[str, ArgumentSpec]) -> Sequence[Any]:
    """What the golden's own `result_shapes` says, one entry per output; empty where no output asks for it."""
    if all(spec.shape != "golden" for spec in operator.outputs):
        return ()
    function = operator_function(operator.folder, "result_shapes")
    if function is None:
        raise GoldenFault(f"{operator.name}: an output's shape is 'golden', but golden.py has no result_shapes")
    shapes = dict(zip(arguments, case.shapes, strict=True))
    try:
        declared = list(function(**shapes, **call_attributes(operator, case)))
    except Exception as error:
        raise GoldenFault(f"{case.key}: result_shapes raised {type(error).__name__}: {error}") from error
    if len(declared) != len(operator.outputs):
        raise GoldenFault(f"{case.key}: result_shapes gave {len(declared)} entries for {len(operator.outputs)} outputs")
    return declared


def _call(operator: Operator, case: Case, inputs: Sequence[torch.Tensor]) -> Any:
    function = operator_function(operator.folder, "golden")
    if function is None:
        raise GoldenFault(f"{operator.name}: golden.py has no function golden")
    try:
        with torch.no_grad():
            return function(**named_inputs(operator, case, inputs), **call_attributes(operator, case))
    except Exception as error:
        raise GoldenFault(f"{case.key}: the golden raised {type(error).__name__}: {error}") from error


def _arranged(outputs: Any, results: Sequence[ResultSpec], case: Case) -> list[list[torch.Tensor]]:
    """One list of tensors per declared output. A single output may come without a container around it."""
    entries = [outputs] if len(results) == 1 and not isinstance(outputs, tuple) else outputs
    if not isinstance(entries, list | tuple) or len(entries) != len(results):
        raise GoldenFault(f"{case.key}: the golden must return {len(results)} outputs, returned {_described(outputs)}")
    arranged = []
    for entry, result in zip(entries, results, strict=True):
        tensors = list(entry) if result.tensor_list and isinstance(entry, list | tuple) else [entry]
        if len(tensors) != len(result.tensors) or not all(isinstance(tensor, torch.Tensor) for tensor in tensors):
            raise GoldenFault(
                f"{case.key}: output {result.name} must hold {len(result.tensors)} tensors, holds {_described(entry)}"
            )
        arranged.append(tensors)
    return arranged


def _declared(tensor: torch.Tensor, wanted: TensorSpec, spec: OutputSpec, case: Case) -> torch.Tensor:
    """The golden's tensor, checked and cast to the declared dtype."""
    _check_shape(tensor, wanted, spec.name, case)
    dtype = getattr(torch, wanted.dtype)
    computed = torch.float64 if dtype.is_floating_point else dtype
    if tensor.dtype != computed:
        raise GoldenFault(f"{case.key}: the golden computed {spec.name} as {tensor.dtype}, must be {computed}")
    if dtype.is_floating_point and not spec.non_finite and not bool(tensor.isfinite().all()):
        raise GoldenFault(f"{case.key}: the golden's {spec.name} holds an undeclared NaN or Inf")
    with torch.no_grad():
        return cast_once(tensor, dtype).contiguous()


def _check_shape(tensor: torch.Tensor, wanted: TensorSpec, name: str, case: Case) -> None:
    if tuple(tensor.shape) != wanted.shape:
        raise GoldenFault(f"{case.key}: the golden's {name} is {tuple(tensor.shape)}, declared is {wanted.shape}")


def _described(value: Any) -> str:
    return f"{type(value).__name__} of {len(value)}" if isinstance(value, list | tuple) else type(value).__name__
