"""FP64 is rounded once, to the nearest."""

from __future__ import annotations

import math
from fractions import Fraction

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings

from kernel_eval.check.rounding import cast_once


def nearest(value: float, dtype: torch.dtype) -> float:
    """The nearest number of `dtype`, ties to even, by trying the neighbours of PyTorch's answer."""
    guess = torch.tensor(value, dtype=torch.float64).to(dtype)
    bits = guess.view(torch.int16)
    candidates = [(bits + step).to(torch.int16).view(dtype) for step in (-1, 0, 1)]
    finite = [c for c in candidates if c.isfinite() and math.copysign(1, c.item()) == math.copysign(1, guess.item())]
    return min(
        finite, key=lambda c: (abs(Fraction(c.double().item()) - Fraction(value)), int(c.view(torch.int16)) & 1)
    ).item()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@settings(max_examples=150, deadline=None)
@given(mantissa=st.integers(2**52, 2**53 - 1), exponent=st.integers(-66, -40), tie=st.integers(0, 3))
def test_casts_round_once_to_the_nearest(dtype: torch.dtype, mantissa: int, exponent: int, tie: int) -> None:
    drop = 53 - (11 if dtype == torch.float16 else 8)
    if tie:  # just beside, or on, the middle between two neighbours: where rounding twice goes wrong
        mantissa = (mantissa >> drop << drop) + (1 << (drop - 1)) + (tie - 2)
    value = math.ldexp(mantissa, exponent)
    assert cast_once(torch.tensor([value], dtype=torch.float64), dtype).item() == nearest(value, dtype)


def test_a_cast_by_way_of_float32_would_round_twice() -> None:
    value = 1 + 2**-11 + 2**-30
    assert torch.tensor(value, dtype=torch.float64).to(torch.float16).item() == 1.0
    assert cast_once(torch.tensor([value], dtype=torch.float64), torch.float16).item() == 1 + 2**-10


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32], ids=str)
def test_casts_keep_special_values_and_signs(dtype: torch.dtype) -> None:
    values = torch.tensor([math.nan, math.inf, -math.inf, 1e300, -1e300, -0.0, 1e-300], dtype=torch.float64)
    found = cast_once(values, dtype).double().tolist()
    assert math.isnan(found[0])
    assert found[1:5] == [math.inf, -math.inf, math.inf, -math.inf]
    assert (math.copysign(1, found[5]), found[6]) == (-1.0, 0.0)
