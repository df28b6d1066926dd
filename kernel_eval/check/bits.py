"""The same elements in dtypes for which torch has every operation."""

from __future__ import annotations

import torch

_SIGNED = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
_NARROW_FLOATS = (torch.float8_e4m3fn, torch.float8_e5m2)
_LEAST = -(1 << 63)


def as_signed(tensor: torch.Tensor) -> torch.Tensor:
    """A view of the bits as signed integers of the same size; good for equality and for moving elements about."""
    return tensor.view(_SIGNED[tensor.element_size()])


def comparable(tensor: torch.Tensor) -> torch.Tensor:
    """Values whose order and equality are those of `tensor`, in a dtype that torch can sort, gather and reduce.

    Eight-bit floats become float32, unsigned integers int64 (64-bit ones are shifted by −2⁶³), bool its bytes.
    """
    if tensor.dtype in _NARROW_FLOATS:
        return tensor.to(torch.float32)
    if tensor.dtype == torch.bool:
        return tensor.view(torch.uint8)
    if tensor.dtype in (torch.uint16, torch.uint32):
        return tensor.to(torch.int64)
    if tensor.dtype == torch.uint64:
        return tensor.view(torch.int64) ^ _LEAST
    return tensor


def unequal(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Where two `comparable` tensors differ in value: −0.0 equals 0.0, NaN equals NaN."""
    differs = left != right
    return differs & ~(left.isnan() & right.isnan()) if left.dtype.is_floating_point else differs
