"""Casting FP64 results to a declared dtype with one rounding."""

from __future__ import annotations

import torch

_DIRECT = (torch.float64, torch.float32)


def cast_once(values: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """FP64 `values` rounded once, to nearest even, to `dtype`; too large ones become infinite.

    PyTorch converts FP64 to narrow floats by way of float32, which rounds twice
    and can miss the nearest value. Rounding to odd in between avoids that
    (Boldo and Melquiond, "When double rounding is odd", 2005).
    """
    if dtype in _DIRECT or not dtype.is_floating_point:
        return values.to(dtype)
    nearest = values.to(torch.float32)
    back = nearest.to(torch.float64)
    inexact = back != values
    if not inexact.any():
        return nearest.to(dtype)
    bits = nearest.view(torch.int32)
    bits -= (back.abs_() > values.abs()).to(torch.int32)
    bits |= inexact.to(torch.int32)
    return nearest.to(dtype)
