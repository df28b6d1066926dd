"""SwiGlu: the first half along `dim` goes through silu and gates the second half."""

import torch


def golden(input: torch.Tensor, dim: int = -1) -> torch.Tensor:  # noqa: A002 - the operator's declared name
    """silu(first) * second, in whatever precision `input` has. At -inf silu is -inf * 0, that is NaN."""
    first, second = input.chunk(2, dim)
    return first * (1 / (1 + torch.exp(-first))) * second


def baseline(input: torch.Tensor, dim: int = -1) -> torch.Tensor:  # noqa: A002 - the operator's declared name
    """PyTorch's own operators."""
    first, second = input.chunk(2, dim)
    return torch.nn.functional.silu(first) * second


def result_shapes(input: tuple[int, ...], dim: int = -1) -> list[tuple[int, ...]]:  # noqa: A002
    """The input's shape with the size along `dim` halved."""
    shape = list(input)
    shape[dim] //= 2
    return [tuple(shape)]
