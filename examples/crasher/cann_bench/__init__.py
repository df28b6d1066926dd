# ruff: noqa: A002, ARG001 - the operators declare these names
"""Four operators that end badly, each in its own way, and four that are right."""

import ctypes
import time

import torch
from torch.nn import functional


def exp(x, base=-1.0, scale=1.0, shift=0.0):
    """Writes to address zero."""
    ctypes.memset(0, 1, 1)


def foreach_addcdiv_scalar(x1, x2, x3, scalar):
    """Right."""
    return list(torch._foreach_addcdiv(x1, x2, x3, value=scalar))


def foreach_norm(x, scalar):
    """Right."""
    return list(torch._foreach_norm(x, scalar))


def gelu(x, approximate="none"):
    """Never comes back."""
    while True:
        time.sleep(1)


def masked_scale(x, mask, scale=1.0):
    """Raises."""
    raise RuntimeError("masked_scale gives up: the mask has dtype " + str(mask.dtype))


def mish(x):
    """Asks for memory until there is none."""
    hoard = []
    while True:
        hoard.append(torch.ones(1 << 24))


def sigmoid(x):
    """Right."""
    return torch.sigmoid(x)


def swi_glu(input, dim=-1):
    """Right."""
    first, second = input.chunk(2, dim)
    return functional.silu(first) * second
