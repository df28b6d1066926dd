# ruff: noqa: A002, ARG001 - the operators declare these names
"""Eight operators that look right at a glance; five of them are not."""

import math

import torch
from torch.nn import functional


def exp(x, base=-1.0, scale=1.0, shift=0.0):
    """Wrong in 16 bits: the affine part is rounded to the input's dtype before the exponential."""
    exponent = scale * x + shift
    return torch.exp(exponent * math.log(base) if base > 0 else exponent)


def foreach_addcdiv_scalar(x1, x2, x3, scalar):
    """Right."""
    return list(torch._foreach_addcdiv(x1, x2, x3, value=scalar))


def foreach_norm(x, scalar):
    """Wrong: leaves out the last element, which hardly shows in a sum of many."""
    kept = [tensor.flatten()[:-1] for tensor in x]
    return list(torch._foreach_norm(kept, scalar))


def gelu(x, approximate="none"):
    """Wrong: always the tanh approximation, off by up to 5e-4 where the exact form is asked for."""
    return functional.gelu(x, approximate="tanh")


def masked_scale(x, mask, scale=1.0):
    """Wrong: takes the mask for true or false, right only where it holds zeros and ones."""
    return torch.where(mask != 0, x * scale, torch.zeros_like(x))


def mish(x):
    """Wrong by one part in a thousand everywhere."""
    return functional.mish(x) * 1.001


def sigmoid(x):
    """Right."""
    return torch.sigmoid(x)


def swi_glu(input, dim=-1):
    """Wrong: the second half goes through the activation instead of the first."""
    first, second = input.chunk(2, dim)
    return first * functional.silu(second)
