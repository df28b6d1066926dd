"""The comparison of module suites."""

from __future__ import annotations

import math

import pytest
import torch

from kernel_eval.check.allclose import allclose_bound, compare_allclose

INF, NAN = math.inf, math.nan


@pytest.mark.parametrize(
    ("found", "golden", "passed"),
    [
        (1.0, 1.0, True),
        (1.00019, 1.0, True),
        (1.00021, 1.0, False),
        (1e-4, 0.0, True),
        (1.1e-4, 0.0, False),
        (-1e9, -1e9 * 1.00009, True),
        (NAN, NAN, True),
        (NAN, 0.0, False),
        (0.0, NAN, False),
        (INF, INF, True),
        (INF, -INF, False),
        (INF, 3e38, False),
        (3e38, INF, False),
        (-3e38, 3e38, False),
    ],
)
def test_a_value_is_close_enough_or_not(found: float, golden: float, passed: bool) -> None:
    tensors = (torch.tensor([5.0, value], dtype=torch.float64) for value in (found, golden))
    outcome = compare_allclose(*tensors, 1e-4)
    assert outcome.passed is passed
    assert outcome.rule == "allclose"
    assert passed or outcome.worst == 1


def test_it_agrees_with_torch_on_finite_tensors() -> None:
    generator = torch.Generator().manual_seed(1)
    for spread in (0.5e-4, 1e-4, 2e-4, 4e-4):
        golden = torch.randn(5000, generator=generator)
        found = golden + (torch.rand(5000, generator=generator) - 0.5) * spread
        wanted = torch.allclose(found.double(), golden.double(), rtol=1e-4, atol=1e-4)
        assert compare_allclose(found, golden, 1e-4).passed is wanted


def test_empty_tensors_are_equal_and_each_dtype_has_a_bound() -> None:
    assert compare_allclose(torch.empty(0), torch.empty(0), 1e-4).passed
    assert [allclose_bound(name) for name in ("float32", "bfloat16", "float16")] == [1e-4, 1e-2, 1e-2]
