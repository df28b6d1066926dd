"""ForeachNorm: the p-norm over all elements of every list entry, with p = scalar."""

import math

import torch


def golden(x: list[torch.Tensor], scalar: float) -> list[torch.Tensor]:
    """The definition, in whatever precision the list has; one 0-dim tensor per entry."""
    return [_norm(tensor.abs(), scalar) for tensor in x]


def _norm(magnitude: torch.Tensor, order: float) -> torch.Tensor:
    """(Σ magnitude^p)^(1/p) and its limits: the largest for +inf, the smallest for -inf, the non-zero count for 0."""
    if order == math.inf:
        return magnitude.amax()
    if order == -math.inf:
        return magnitude.amin()
    if order == 0:
        return (magnitude != 0).sum().to(magnitude.dtype)
    if order == 1:
        return magnitude.sum()
    if order == 2:
        return magnitude.square().sum().sqrt()
    return magnitude.pow(order).sum().pow(1 / order)


def baseline(x: list[torch.Tensor], scalar: float) -> list[torch.Tensor]:
    """PyTorch's foreach operator."""
    return list(torch._foreach_norm(x, scalar))
