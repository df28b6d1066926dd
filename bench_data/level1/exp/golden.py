"""Exp: y = base ** (scale * x + shift), with e as the base where `base` is not positive."""

import math

import torch


def golden(x: torch.Tensor, base: float = -1.0, scale: float = 1.0, shift: float = 0.0) -> torch.Tensor:
    """The definition, in whatever precision `x` has."""
    exponent = scale * x + shift
    if base > 0:
        exponent = exponent * math.log(base)
    return torch.exp(exponent)


def baseline(x: torch.Tensor, base: float = -1.0, scale: float = 1.0, shift: float = 0.0) -> torch.Tensor:
    """PyTorch's own operators; 16-bit inputs get their affine part in float32, as a careful user would write it."""
    factor = math.log(base) if base > 0 else 1.0
    if factor == 1.0 and scale == 1.0 and shift == 0.0:
        return torch.exp(x)
    exponent = torch.add(torch.full((), shift * factor), x.float(), alpha=scale * factor)
    return torch.exp(exponent).to(x.dtype)
