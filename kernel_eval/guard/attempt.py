"""Whether an output shows any attempt at the work: constant or unwritten everywhere is none."""

from __future__ import annotations

from collections.abc import Sequence

import torch


def attempted(golden: Sequence[Sequence[torch.Tensor]], outputs: Sequence[Sequence[torch.Tensor]]) -> bool | None:
    """True where some output varies; False where none does although its golden varies; None where that can't be told.

    Both are given per declared output; a slot that was never written holds one repeated byte and is constant.
    """
    told = False
    for golden_tensors, output_tensors in zip(golden, outputs, strict=True):
        for expected, found in zip(golden_tensors, output_tensors, strict=True):
            if not _varies(expected):
                continue
            told = True
            if _varies(found):
                return True
    return False if told else None


def _varies(tensor: torch.Tensor) -> bool:
    """Whether some element differs from the first, NaN equal to NaN; the start alone usually tells."""
    flat = tensor.reshape(-1)
    if flat.numel() < 2:
        return False
    return any(_differs(flat[:count], flat[0]) for count in (min(4096, flat.numel()), flat.numel()))


def _differs(flat: torch.Tensor, first: torch.Tensor) -> bool:
    if flat.is_floating_point() and bool(first.isnan()):
        return not bool(flat.isnan().all())
    return bool((flat != first).any())
