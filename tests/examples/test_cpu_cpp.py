"""The C++ example against the goldens: the suite's cases, hidden ones of a fresh secret, and every 16-bit number."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from kernel_eval.cases.inputs import argument_specs, call_attributes, make_inputs
from kernel_eval.check import judge_outputs
from kernel_eval.golden.call import reference, same_precision
from kernel_eval.model import Case, Comparison, Operator, Split, Suite, element_count
from kernel_eval.suite import default_bench_data, load_suite
from kernel_eval.suite.hidden import generate_hidden, overlay_hidden

Call = Callable[..., Any]
SMALL_ELEMENTS = 1 << 16
SIXTEEN_BITS = [torch.float16, torch.bfloat16]
TOLERANCE = {torch.float16: 2**-10, torch.bfloat16: 2**-7, torch.float32: 2**-13}
"""The judge's bounds for means. 16-bit results here may be off by one unit in the last place, which is as much."""
SMALLEST_NORMAL_HALF = 2**-14

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]


@pytest.fixture(scope="module")
def suite() -> Suite:
    return load_suite(default_bench_data(), "cann-bench-small")


def judged(call: Call, operator: Operator, case: Case, seed: bytes) -> Comparison:
    inputs = make_inputs(operator, case, seed, 0)
    flat: Iterator[torch.Tensor] = iter(inputs)
    arguments: dict[str, Any] = {}
    for spec in argument_specs(operator, case):
        tensors = [next(flat) for _ in spec.tensors]
        arguments[spec.name] = tensors if spec.tensor_list else tensors[0]
    found = call(operator.function, **arguments, **call_attributes(operator, case))
    outputs = [list(found)] if isinstance(found, list | tuple) else [[found]]
    golden = reference(operator, case, inputs)
    return judge_outputs(operator, golden, outputs, lambda: same_precision(operator, case, inputs))


def failures(call: Call, suite: Suite, split: Split, largest: float) -> list[str]:
    wrong, looked = [], 0
    for case in suite.cases:
        if case.split is split and element_count(case) <= largest:
            looked += 1
            comparison = judged(call, suite.operator(case.operator), case, suite.seeds[split])
            if not comparison.accepted:
                wrong.append(f"{case.key}: {comparison.rule} {comparison.message}")
    assert looked > 40
    return wrong


def test_the_small_public_cases_are_right(cpu_cpp: Call, suite: Suite) -> None:
    assert failures(cpu_cpp, suite, Split.PUBLIC, SMALL_ELEMENTS) == []


def test_all_public_cases_are_right(cpu_cpp: Call, suite: Suite) -> None:
    assert failures(cpu_cpp, suite, Split.PUBLIC, math.inf) == []


@pytest.mark.parametrize("secret", [b"one" * 11, b"two" * 11])
def test_hidden_cases_are_right(secret: bytes, cpu_cpp: Call, suite: Suite, tmp_path: Path) -> None:
    generate_hidden(suite, secret, tmp_path / "hidden", "s1")
    assert failures(cpu_cpp, overlay_hidden(suite, tmp_path / "hidden"), Split.HIDDEN, math.inf) == []


def every_number(dtype: torch.dtype) -> torch.Tensor:
    return torch.arange(-(1 << 15), 1 << 15).to(torch.int16).view(dtype)


def many_numbers() -> torch.Tensor:
    """A millionth part of all float32 numbers, of every sign and exponent."""
    return torch.arange(-(1 << 31), 1 << 31, 65_521).to(torch.int32).view(torch.float32)


def relative_errors(found: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    """Errors where the golden isn't NaN, after checking that NaN agrees; goldens below 2^-14 count as 2^-14."""
    cast = wanted.to(found.dtype).double()
    assert torch.equal(found.isnan(), cast.isnan())
    # One step past the largest number may be infinity on one side.
    top = torch.finfo(found.dtype).max
    a, b = found.double().clamp(-top, top), cast.clamp(-top, top)
    return ((a - b).abs() / b.abs().clamp_min(SMALLEST_NORMAL_HALF))[~cast.isnan()]


def silu(x: torch.Tensor) -> torch.Tensor:
    return x / (1 + torch.exp(-x))


UNARY: dict[str, tuple[str, dict[str, Any], Callable[[torch.Tensor], torch.Tensor]]] = {
    "exp": ("exp", {}, torch.exp),
    "exp2": ("exp", {"base": 2.0, "scale": 0.5, "shift": 1.0}, lambda x: torch.exp2(0.5 * x + 1)),
    "exp of base one": ("exp", {"base": 1.0}, lambda x: x * 0 + 1),
    "sigmoid": ("sigmoid", {}, torch.sigmoid),
    "mish": ("mish", {}, lambda x: x * torch.tanh(torch.nn.functional.softplus(x))),
    "gelu": ("gelu", {}, lambda x: 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))),
    "gelu tanh": (
        "gelu",
        {"approximate": "tanh"},
        lambda x: 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    ),
}


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("dtype", [*SIXTEEN_BITS, torch.float32])
def test_every_number_comes_out_right(name: str, dtype: torch.dtype, cpu_cpp: Call) -> None:
    function, attributes, definition = UNARY[name]
    x = many_numbers() if dtype is torch.float32 else every_number(dtype)
    errors = relative_errors(cpu_cpp(function, x, **attributes), definition(x.double()))
    assert errors.max() <= TOLERANCE[dtype]
    assert errors.mean() < TOLERANCE[dtype] / 16


@pytest.mark.parametrize("dtype", [*SIXTEEN_BITS, torch.float32])
@pytest.mark.parametrize("mask_dtype", [torch.int8, torch.uint8, *SIXTEEN_BITS, torch.float32])
def test_masks_of_every_dtype_are_factors(dtype: torch.dtype, mask_dtype: torch.dtype, cpu_cpp: Call) -> None:
    x = every_number(torch.bfloat16).to(dtype)
    mask = torch.arange(x.numel()).remainder(120).to(mask_dtype)
    found = cpu_cpp("masked_scale", x, mask, scale=-0.37)
    assert relative_errors(found, x.double() * mask.double() * -0.37).max() <= TOLERANCE[dtype]


@pytest.mark.parametrize("dtype", [*SIXTEEN_BITS, torch.float32])
def test_a_sum_that_cancels_in_double_precision_is_zero(dtype: torch.dtype, cpu_cpp: Call) -> None:
    """0.7 · (10 / 7) is 1 after rounding, but not exactly: a fused product would leave its rounding error."""
    one, ten, seven = (torch.full((1001,), value, dtype=dtype) for value in (1, 10, 7))
    (found,) = cpu_cpp("foreach_addcdiv_scalar", [one], [ten], [seven], -0.7)
    assert not found.count_nonzero()


@pytest.mark.parametrize("order", [1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 7.3, 0.5, 0.0, -1.0, -2.5, math.inf, -math.inf])
@pytest.mark.parametrize("dtype", [*SIXTEEN_BITS, torch.float32])
def test_norms_of_every_order_are_right(order: float, dtype: torch.dtype, cpu_cpp: Call) -> None:
    generator = torch.Generator().manual_seed(7)
    tensors = [(torch.rand(n, generator=generator) * 4 - 2).to(dtype) for n in (1, 7, 8, 1000, 100_003)]
    found = cpu_cpp("foreach_norm", tensors, order)
    assert [tensor.shape for tensor in found] == [()] * 5
    wanted = [torch.linalg.vector_norm(tensor.double(), order) for tensor in tensors]
    assert relative_errors(torch.stack(found), torch.stack(wanted)).max() <= TOLERANCE[dtype]


@pytest.mark.parametrize("order", [1.0, 2.0, 2.5, math.inf, -math.inf, -1.0])
@pytest.mark.parametrize("values", [[math.nan, 1.0], [math.inf, 1.0], [0.0, 1.0], [-math.inf, math.nan], [3e38, 3e38]])
def test_norms_of_special_values_are_right(order: float, values: list[float], cpu_cpp: Call) -> None:
    for x in (torch.tensor(values), torch.tensor([1.0] * 50 + values + [2.0] * 50)):
        wanted = torch.linalg.vector_norm(x.double(), order).float()
        torch.testing.assert_close(cpu_cpp("foreach_norm", [x], order)[0], wanted, equal_nan=True)


@pytest.mark.parametrize(
    "shape", [(2,), (6, 5), (5, 6), (3, 4, 7), (2, 3, 4, 10), (4, 100_000), (1, 0, 4), (100_000, 2)]
)
def test_halves_along_every_dimension_are_right(shape: tuple[int, ...], cpu_cpp: Call) -> None:
    x = torch.randn(shape, generator=torch.Generator().manual_seed(3))
    for dim in range(-len(shape), len(shape)):
        if shape[dim] % 2 == 0:
            first, second = x.double().chunk(2, dim) if x.numel() else (x.double().narrow(dim, 0, shape[dim] // 2),) * 2
            found = cpu_cpp("swi_glu", x, dim=dim)
            torch.testing.assert_close(found, (silu(first) * second).float(), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 63, 1000, 32_768, 32_769, 100_003, 1_500_001])
@pytest.mark.parametrize("offset", [0, 1, 3])
def test_any_length_and_alignment_is_right(count: int, offset: int, cpu_cpp: Call) -> None:
    for dtype in (torch.float32, torch.float16):
        x = torch.linspace(-6, 6, count + offset).to(dtype)[offset:]
        found = cpu_cpp("sigmoid", x)
        assert (found.shape, found.dtype) == (x.shape, dtype)
        torch.testing.assert_close(found, torch.sigmoid(x.double()).to(dtype), rtol=TOLERANCE[dtype], atol=1e-7)


def test_inputs_that_are_not_contiguous_are_right(cpu_cpp: Call) -> None:
    x = torch.randn(30, 40).t()
    torch.testing.assert_close(cpu_cpp("mish", x), torch.nn.functional.mish(x))
    torch.testing.assert_close(cpu_cpp("masked_scale", x, x.clone(), 2.0), x * x * 2)


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        ("sigmoid", (torch.ones(3, dtype=torch.int32),), "no floating-point dtype"),
        ("sigmoid", (torch.ones(3, dtype=torch.float64),), "is not supported"),
        ("gelu", (torch.ones(3), "sigmoid"), "must be 'none' or 'tanh'"),
        ("masked_scale", (torch.ones(3), torch.ones(4)), "mask has shape"),
        ("swi_glu", (torch.ones(3),), "can't be halved"),
        ("swi_glu", (torch.ones(4), 1), "no dimension"),
        ("foreach_addcdiv_scalar", ([torch.ones(1)], [], [], 1.0), "lists of"),
        ("foreach_addcdiv_scalar", ([torch.ones(2)], [torch.ones(3)], [torch.ones(2)], 1.0), "shapes differ"),
    ],
)
def test_bad_arguments_are_refused_with_a_reason(
    function: str, arguments: tuple[Any, ...], message: str, cpu_cpp: Call
) -> None:
    with pytest.raises(RuntimeError, match=message):
        cpu_cpp(function, *arguments)


@pytest.mark.parametrize("threads", [1, 2])
def test_the_number_of_threads_changes_no_result(threads: int, cpu_cpp: Call) -> None:
    x = torch.linspace(-9, 9, 200_001)
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        wanted = torch.nn.functional.gelu(x.double()).float()
        torch.testing.assert_close(cpu_cpp("gelu", x), wanted, rtol=1e-4, atol=1e-9)
        torch.testing.assert_close(cpu_cpp("foreach_norm", [x], 2.0)[0], x.norm())
    finally:
        torch.set_num_threads(before)
