"""Mish: y = x * tanh(softplus(x)) with softplus(x) = ln(1 + exp(x))."""

import torch


def golden(x: torch.Tensor) -> torch.Tensor:
    """The definition, in whatever precision `x` has. At -inf the product is -inf * 0, that is NaN."""
    softplus = torch.where(x > 0, x, 0.0) + torch.log1p(torch.exp(-x.abs()))
    return x * torch.tanh(softplus)


def baseline(x: torch.Tensor) -> torch.Tensor:
    """PyTorch's own operator."""
    return torch.nn.functional.mish(x)
