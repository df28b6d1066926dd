"""Goldens and outputs that belong together by name, judged as the outputs of one call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch

from kernel_eval.check.judge import judge_outputs
from kernel_eval.check.rounding import cast_once
from kernel_eval.check.tolerances import DEFAULTS, carrier
from kernel_eval.errors import UsageError
from kernel_eval.model import Comparison, Level, Operator, OutputSpec, ResultSpec, TensorSpec, Verdict

Tensors = Mapping[str, torch.Tensor]


@dataclass(frozen=True)
class _Golden:
    tensors: tuple[tuple[torch.Tensor, ...], ...]
    results: tuple[ResultSpec, ...]


def compare_pairs(
    wanted: Tensors, found: Tensors, peers: Tensors | None, declared: str | None = None, threshold: float | None = None
) -> Comparison:
    """Judge the tensors `found` by the goldens `wanted` of the same names.

    `declared` is the dtype that outputs must have: by default the golden's, or, where that is FP64, the output's.
    FP64 goldens are rounded to it once. `peers` are the tensors of the same-precision run; without them the golden
    stands in, which is the strictest there is. `threshold` replaces τ; of integers it is the largest difference.
    Raises `UsageError` for peers of other names or shapes and for a dtype without rules.
    """
    if set(wanted) != set(found):
        return Comparison(Verdict.WRONG_STRUCTURE, "structure.outputs", _unlike(wanted, found))
    if peers is not None and _shapes(peers) != _shapes(wanted):
        raise UsageError("the same-precision run's tensors don't have the names and shapes of the golden's")
    dtypes = {name: _dtype(wanted[name], found[name], declared) for name in wanted}
    goldens = {name: _rounded(wanted[name], dtypes[name]) for name in wanted}
    same = {name: tensor.to(goldens[name].dtype) for name, tensor in (peers or goldens).items()}
    golden = _Golden(
        tuple((tensor,) for tensor in goldens.values()),
        tuple(ResultSpec(name, (TensorSpec(dtypes[name], tuple(goldens[name].shape)),)) for name in goldens),
    )
    outputs = [[found[name]] for name in goldens]
    return judge_outputs(_operator(dtypes, threshold), golden, outputs, lambda: [[same[name]] for name in goldens])


def _unlike(wanted: Tensors, found: Tensors) -> str:
    missing, more = sorted(set(wanted) - set(found)), sorted(set(found) - set(wanted))
    parts = [
        f"{what}: {', '.join(names)}" for what, names in (("missing", missing), ("not in the golden", more)) if names
    ]
    return "; ".join(parts)


def _shapes(tensors: Tensors) -> dict[str, torch.Size]:
    return {name: tensor.shape for name, tensor in tensors.items()}


def _dtype(golden: torch.Tensor, output: torch.Tensor, declared: str | None) -> str:
    """The declared dtype of a pair. Integers and bool have no tolerance, and need none."""
    by_default = output if golden.dtype == torch.float64 else golden
    name = declared or str(by_default.dtype).removeprefix("torch.")
    dtype = getattr(torch, carrier(name), None)
    if not isinstance(dtype, torch.dtype) or (dtype.is_floating_point and name not in DEFAULTS) or dtype.is_complex:
        known = ", ".join(DEFAULTS)
        raise UsageError(f"{name}: there are no rules for this dtype, only for {known}, integers and bool")
    return name


def _rounded(golden: torch.Tensor, declared: str) -> torch.Tensor:
    dtype = getattr(torch, carrier(declared))
    if golden.dtype == torch.float64 and dtype.is_floating_point:
        return cast_once(golden, dtype)
    if golden.dtype != dtype:
        raise UsageError(
            f"the golden is {golden.dtype}, so the declared dtype can't be {declared}".replace("torch.", "")
        )
    return golden


def _operator(dtypes: Mapping[str, str], threshold: float | None) -> Operator:
    """An operator that stands for the files."""
    return Operator(
        name="check",
        title="Check",
        function="check",
        level=Level.L1,
        category="",
        schema="",
        inputs=(),
        attributes=(),
        outputs=tuple(OutputSpec(name, dtype, integer_tolerance=int(threshold or 0)) for name, dtype in dtypes.items()),
        folder=Path(),
        thresholds={} if threshold is None else dict.fromkeys(dtypes.values(), threshold),
    )
