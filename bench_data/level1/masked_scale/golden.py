"""MaskedScale: y = x * mask * scale, with the mask's values as plain factors."""

import torch


def golden(x: torch.Tensor, mask: torch.Tensor, scale: float = 1.0) -> torch.Tensor:
    """The definition, in the precision of `x`."""
    return x * mask.to(x.dtype) * scale


def baseline(x: torch.Tensor, mask: torch.Tensor, scale: float = 1.0) -> torch.Tensor:
    """PyTorch's own operators, multiplying in float32 so that a 16-bit intermediate cannot overflow."""
    return (x.float() * mask * scale).to(x.dtype)
