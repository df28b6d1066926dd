"""Gelu: x times the normal distribution's cumulative probability, exact or by the tanh approximation."""

import math

import torch


def golden(x: torch.Tensor, approximate: str = "none") -> torch.Tensor:
    """The definition, in whatever precision `x` has. At -inf the product is -inf * 0, that is NaN."""
    if approximate == "tanh":
        inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
        return 0.5 * x * (1 + torch.tanh(inner))
    return 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))


def baseline(x: torch.Tensor, approximate: str = "none") -> torch.Tensor:
    """PyTorch's own operator."""
    return torch.nn.functional.gelu(x, approximate=approximate)
