"""ForeachAddcdivScalar: y[i] = x1[i] + scalar * (x2[i] / x3[i]) for every list entry."""

import torch


def golden(x1: list[torch.Tensor], x2: list[torch.Tensor], x3: list[torch.Tensor], scalar: float) -> list[torch.Tensor]:
    """The definition, in whatever precision the lists have."""
    return [
        start + scalar * (numerator / denominator) for start, numerator, denominator in zip(x1, x2, x3, strict=True)
    ]


def baseline(
    x1: list[torch.Tensor], x2: list[torch.Tensor], x3: list[torch.Tensor], scalar: float
) -> list[torch.Tensor]:
    """PyTorch's foreach operator."""
    return list(torch._foreach_addcdiv(x1, x2, x3, value=scalar))
