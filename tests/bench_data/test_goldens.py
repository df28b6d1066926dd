"""Every golden against another way to compute the same, element by element in plain Python."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from kernel_eval.cases.operator_source import operator_function
from kernel_eval.suite import default_bench_data

NAN, INF = math.nan, math.inf
POINTS = [-745.0, -88.5, -20.0, -5.5, -4.0, -1.0, -0.3, -1e-8, -0.0, 0.0, 1e-8, 0.3, 1.0, 4.0, 5.5, 20.0, 88.5, 700.0]


def golden(operator: str) -> Callable[..., Any]:
    function = operator_function(default_bench_data() / "level1" / operator, "golden")
    assert function is not None
    return function


def points() -> torch.Tensor:
    return torch.tensor(POINTS, dtype=torch.float64)


def assert_close(found: torch.Tensor, expected: list[float]) -> None:
    """Equal to 12 digits, or to 1e-14 where 1 + (-1) cancels."""
    torch.testing.assert_close(
        found, torch.tensor(expected, dtype=torch.float64), rtol=1e-12, atol=1e-14, equal_nan=True
    )


@pytest.mark.parametrize(
    ("base", "scale", "shift"), [(-1.0, 1.0, 0.0), (2.0, 0.5, 1.0), (10.0, -0.25, 0.5), (0.5, 1, 0)]
)
def test_exp_is_the_power_of_its_base(base: float, scale: float, shift: float) -> None:
    expected = [(base if base > 0 else math.e) ** (scale * x + shift) for x in POINTS]
    assert_close(golden("exp")(points(), base=base, scale=scale, shift=shift), expected)


def test_exp_with_base_1_is_1_for_finite_and_nan_for_infinite_input() -> None:
    found = golden("exp")(torch.tensor([5.0, INF, -INF], dtype=torch.float64), base=1.0)
    assert_close(found, [1.0, NAN, NAN])


def test_exp_takes_any_base_that_is_not_positive_for_e() -> None:
    assert_close(golden("exp")(points()[3:-2], base=0.0), [math.exp(x) for x in POINTS[3:-2]])


def test_gelu_is_x_times_the_normal_distribution() -> None:
    expected = [x * 0.5 * math.erfc(-x / math.sqrt(2)) for x in POINTS]
    assert_close(golden("gelu")(points()), expected)


def test_gelu_by_tanh_is_x_times_a_logistic_function() -> None:
    # ½ (1 + tanh u) = 1 / (1 + exp(-2u))
    def expected(x: float) -> float:
        inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
        return x / (1 + math.exp(min(-2 * inner, 700)))

    assert_close(golden("gelu")(points(), approximate="tanh"), [expected(x) for x in POINTS])


def test_the_two_forms_of_gelu_differ_by_more_than_the_float32_bound() -> None:
    x = torch.tensor([-2.5], dtype=torch.float64)
    exact, tanh = golden("gelu")(x), golden("gelu")(x, approximate="tanh")
    assert abs(exact - tanh).item() > 10 * 2**-13 * abs(exact).item()


def test_mish_by_its_rational_form() -> None:
    # tanh(ln(1 + e)) = (e² + 2e) / (e² + 2e + 2) with e = exp(x)
    def expected(x: float) -> float:
        e = math.exp(min(x, 300))
        return x * (e * (e + 2)) / (e * (e + 2) + 2)

    wanted = torch.tensor([expected(x) for x in POINTS], dtype=torch.float64)
    torch.testing.assert_close(golden("mish")(points()), wanted, rtol=1e-12, atol=1e-300)


def test_sigmoid_by_tanh_where_that_is_exact_enough() -> None:
    expected = [math.exp(x) / (1 + math.exp(x)) if x < 0 else 1 / (1 + math.exp(-x)) for x in POINTS]
    torch.testing.assert_close(
        golden("sigmoid")(points()), torch.tensor(expected, dtype=torch.float64), rtol=1e-12, atol=1e-300
    )


@pytest.mark.parametrize("name", ["gelu", "mish"])
def test_minus_infinity_gives_nan_as_documented_and_as_pytorch_does(name: str) -> None:
    x = torch.tensor([-INF, INF, NAN], dtype=torch.float64)
    assert_close(golden(name)(x), [NAN, INF, NAN])
    assert_close(getattr(torch.nn.functional, name)(x), [NAN, INF, NAN])
    text = (default_bench_data() / "level1" / name / "desc.md").read_text(encoding="utf-8")
    assert "x = −inf gives NaN" in text


def test_sigmoid_of_infinities_is_exactly_1_and_0() -> None:
    assert golden("sigmoid")(torch.tensor([INF, -INF])).tolist() == [1.0, 0.0]


@pytest.mark.parametrize("dim", [-1, 0, 1, 2, -2])
def test_swi_glu_gates_the_second_half_by_silu_of_the_first(dim: int) -> None:
    x = torch.randn(4, 6, 10, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    half = x.shape[dim] // 2
    found = golden("swi_glu")(x, dim=dim)
    first = x.narrow(dim, 0, half).reshape(-1).tolist()
    second = x.narrow(dim, half, half).reshape(-1).tolist()
    assert_close(found.reshape(-1), [a / (1 + math.exp(-a)) * b for a, b in zip(first, second, strict=True)])
    shapes = operator_function(default_bench_data() / "level1" / "swi_glu", "result_shapes")
    assert shapes is not None
    assert shapes(tuple(x.shape), dim=dim) == [tuple(found.shape)]


@pytest.mark.parametrize("order", [1.0, 2.0, 3.0, 1.5, 2.5, 5.0, -1.0, 0.0, INF, -INF])
def test_foreach_norm_by_a_loop(order: float) -> None:
    lists = [torch.randn(3, 5, dtype=torch.float64), torch.tensor([2.0, -0.5, 4.0], dtype=torch.float64)]
    found = golden("foreach_norm")(lists, scalar=order)
    assert all(entry.shape == () for entry in found)
    for entry, tensor in zip(found, lists, strict=True):
        magnitudes = [abs(value) for value in tensor.reshape(-1).tolist()]
        match order:
            case 0.0:
                expected = float(sum(value != 0 for value in magnitudes))
            case _ if math.isinf(order):
                expected = max(magnitudes) if order > 0 else min(magnitudes)
            case _:
                expected = math.fsum(value**order for value in magnitudes) ** (1 / order)
        assert entry.item() == pytest.approx(expected, rel=1e-12)


def test_foreach_norm_of_negative_order_is_0_where_an_element_is_0() -> None:
    assert golden("foreach_norm")([torch.tensor([0.0, 3.0], dtype=torch.float64)], scalar=-1.0)[0].item() == 0.0


def test_foreach_norm_keeps_nan_for_infinite_orders() -> None:
    assert golden("foreach_norm")([torch.tensor([NAN, 3.0], dtype=torch.float64)], scalar=INF)[0].isnan()


def test_foreach_addcdiv_scalar_by_a_loop() -> None:
    lists = [[torch.randn(3, 4, dtype=torch.float64), torch.randn(5, dtype=torch.float64)] for _ in range(3)]
    found = golden("foreach_addcdiv_scalar")(*lists, scalar=-1.5)
    for entry, a, b, c in zip(found, *lists, strict=True):
        columns = (tensor.reshape(-1).tolist() for tensor in (a, b, c))
        assert_close(entry.reshape(-1), [x + -1.5 * (y / z) for x, y, z in zip(*columns, strict=True)])


def test_foreach_addcdiv_scalar_with_special_scalars() -> None:
    one = [torch.tensor([1.0, 2.0], dtype=torch.float64)]
    zero_first = [torch.tensor([0.0, -2.0], dtype=torch.float64)]
    assert_close(golden("foreach_addcdiv_scalar")(one, zero_first, one, scalar=INF)[0], [NAN, -INF])
    assert golden("foreach_addcdiv_scalar")(one, one, one, scalar=NAN)[0].isnan().all()


def test_masked_scale_multiplies_by_the_masks_values() -> None:
    x = torch.tensor([1.5, -2.0, INF, 4.0], dtype=torch.float64)
    mask = torch.tensor([3, 1, 0, 0], dtype=torch.int8)
    assert_close(golden("masked_scale")(x, mask, scale=0.5), [2.25, -1.0, NAN, 0.0])
    assert_close(golden("masked_scale")(x, mask, scale=INF), [INF, -INF, NAN, NAN])


def test_goldens_do_not_change_their_inputs() -> None:
    folder: Path = default_bench_data() / "level1"
    for name in ("exp", "gelu", "mish", "sigmoid", "swi_glu"):
        x = torch.randn(4, 6, dtype=torch.float64)
        kept = x.clone()
        function = operator_function(folder / name, "golden")
        assert function is not None
        function(x)
        assert torch.equal(x, kept)
