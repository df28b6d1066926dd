"""Inputs that an operator updates: the whole buffer is judged, what it must not touch bit by bit.

Only what the operator writes goes into the statistics of rule 4, or the many
untouched elements of a cache would hide a bias in a few written rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch

from kernel_eval.check.bits import as_signed, comparable, unequal
from kernel_eval.check.chunks import over_chunks
from kernel_eval.check.outcome import TensorOutcome
from kernel_eval.check.refusal import refusal
from kernel_eval.check.tolerances import Bounds
from kernel_eval.check.values import compare_values
from kernel_eval.errors import GoldenFault


def compare_stateful(
    found: torch.Tensor,
    golden: torch.Tensor,
    before: torch.Tensor,
    mask: torch.Tensor | None,
    bounds: Bounds,
    same_precision: Callable[[], torch.Tensor],
) -> TensorOutcome:
    """Judge a buffer after the call; `before` is what the operator got.

    `mask` (bool, broadcast to the buffer) says where the operator writes; without
    one that is where the golden's bits differ from those before. Raises
    `GoldenFault` where the golden itself changes something else.
    """
    if before.shape != golden.shape or before.dtype != golden.dtype:
        raise GoldenFault("an updated buffer must keep the shape and dtype of its input")
    left, right, old = (as_signed(tensor.reshape(-1)) for tensor in (found, golden, before))
    touched = right != old if mask is None else _fitting(mask, golden).reshape(-1)
    if mask is not None:
        _refuse_broken_mask(touched, golden, before)
    refused = refusal(
        "stateful.untouched",
        "elements were changed though the operator must not touch them",
        left.numel(),
        lambda start, stop: (left[start:stop] != old[start:stop]) & ~touched[start:stop],
    )
    if refused is not None and refused.worst is not None:
        return replace(refused, against=float(before.reshape(-1)[refused.worst].item()))
    return _written(found, golden, touched.nonzero().view(-1), bounds, same_precision)


def _written(
    found: torch.Tensor,
    golden: torch.Tensor,
    places: torch.Tensor,
    bounds: Bounds,
    same_precision: Callable[[], torch.Tensor],
) -> TensorOutcome:
    """The elements at the flat `places` by the rules of their dtype."""

    def part(tensor: torch.Tensor) -> torch.Tensor:
        return as_signed(tensor.reshape(-1))[places].view(tensor.dtype)

    outcome = compare_values(part(found), part(golden), bounds, lambda: part(same_precision()))
    figures = {**outcome.figures, "touched": places.numel(), "untouched": found.numel() - places.numel()}
    worst = None if outcome.worst is None else int(places[outcome.worst])
    return replace(outcome, rule=f"stateful.{outcome.rule}", figures=figures, worst=worst)


def _fitting(mask: torch.Tensor, golden: torch.Tensor) -> torch.Tensor:
    if mask.dtype != torch.bool:
        raise GoldenFault(f"what tells which elements are touched must be a bool tensor, is {mask.dtype}")
    try:
        return mask.expand(golden.shape)
    except RuntimeError as error:
        raise GoldenFault(f"a mask of {tuple(mask.shape)} does not fit {tuple(golden.shape)}") from error


def _refuse_broken_mask(touched: torch.Tensor, golden: torch.Tensor, before: torch.Tensor) -> None:
    new, old = comparable(golden.reshape(-1)), comparable(before.reshape(-1))
    changed = over_chunks(new.numel(), lambda a, b: bool((unequal(new[a:b], old[a:b]) & ~touched[a:b]).any()))
    if any(changed):
        raise GoldenFault("the golden changes elements that it calls untouched")
