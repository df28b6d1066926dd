"""Ways to pass with wrong numbers, each tried in every float dtype, and honest twins of nearly the same form."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from kernel_eval.check import judge_outputs
from kernel_eval.check.rounding import cast_once
from kernel_eval.check.tolerances import DEFAULTS
from kernel_eval.model import Comparison
from tests.factories.tasks import golden_of, operator_of, outputs_of

DTYPES = [torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2]
COUNT = 300_000
CHUNK_EDGES = [0, 1, (1 << 15) - 1, 1 << 15, COUNT - 1]
Attack = Callable[[torch.Tensor, float], torch.Tensor]


def judged(folder: Path, found: torch.Tensor, golden: torch.Tensor) -> Comparison:
    """By an operator without leniency; the same-precision run is as good as it can be."""
    operator = operator_of(folder / "sample", outputs=outputs_of(1))
    return judge_outputs(operator, golden_of(golden), [[found]], lambda: [[golden.clone()]])


def signal(dtype: torch.dtype, count: int = COUNT) -> torch.Tensor:
    """Golden values in FP64, as dense around 0 as elsewhere, none of them tiny, all of them in `dtype`."""
    generator = torch.Generator().manual_seed(11)
    values = torch.rand(count, generator=generator, dtype=torch.float64) * 6 - 3
    return cast_once(values + 0.6 * values.sign(), dtype).double()


def at(indices: list[int], change: Attack) -> Attack:
    def attack(y: torch.Tensor, tau: float) -> torch.Tensor:
        found = y.clone()
        found[indices] = change(y[indices], tau)
        return found

    return attack


ATTACKS: dict[str, Attack] = {
    "zeros": lambda y, tau: torch.zeros_like(y),
    "ones": lambda y, tau: torch.ones_like(y),
    "the mean": lambda y, tau: torch.full_like(y, float(y.mean())),
    "the opposite sign": lambda y, tau: -y,
    "a bias of 2 τ everywhere": lambda y, tau: y * (1 + 2 * tau),
    "a bias of 5 τ everywhere": lambda y, tau: y * (1 - 5 * tau),
    "a bias of 9 τ on every other element": lambda y, tau: y * (1 + 9 * tau * (torch.arange(len(y)) % 2)),
    "a bias of 2 τ beside one element far off": lambda y, tau: at([5], lambda v, _: v * 3)(y * (1 + 2 * tau), tau),
    "one element doubled": at([12_345], lambda v, _: 2 * v + 1),
    "the last element left out": at([COUNT - 1], lambda v, _: 0 * v),
    "the last per cent left out": lambda y, tau: torch.cat([y[: COUNT * 99 // 100], 0 * y[: COUNT // 100]]),
    "two neighbours swapped far apart": lambda y, tau: y.index_select(0, swapped()),
    "all shifted by one": lambda y, tau: y.roll(1),
    "one infinity": at([7], lambda v, _: v / 0),
    "all infinities": lambda y, tau: y / 0,
    "all NaN": lambda y, tau: y * math.nan,
    **{f"one NaN at {index}": at([index], lambda v, _: v * math.nan) for index in CHUNK_EDGES},
}  # fmt: skip


WITHIN_TEN_TAU = {torch.float8_e5m2: {"one element doubled"}}
"""Of this dtype 10 τ is 2.5, so few elements may be up to three times as large: the mean alone holds them."""


def swapped() -> torch.Tensor:
    """All indices, two of which have changed places: the smallest and the largest of the signal."""
    order = torch.arange(COUNT)
    y = signal(torch.float32)
    low, high = int(y.argmin()), int(y.argmax())
    order[[low, high]] = torch.tensor([high, low])
    return order


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_is_refused_unless_ten_tau_allows_it(tmp_path: Path, name: str, dtype: torch.dtype) -> None:
    golden, tau = signal(dtype), DEFAULTS[str(dtype).removeprefix("torch.")].mean
    if tau >= 0.1 and "bias" in name:
        golden, tau = golden.sign() * 4, 0.25  # one unit of an eight-bit float is wider than τ
    found = ATTACKS[name](golden, tau).to(dtype)
    result = judged(tmp_path, found, golden.to(dtype))
    assert result.accepted == (name in WITHIN_TEN_TAU.get(dtype, ())), (result.mean_re, result.max_re)
    assert result.worst is not None
    assert result.accepted or result.message


@pytest.mark.parametrize("dtype", DTYPES[:3], ids=str)
@pytest.mark.parametrize("share", [0.3, 0.7])
def test_zeros_are_refused_where_every_golden_is_small(tmp_path: Path, dtype: torch.dtype, share: float) -> None:
    """As a softmax over a very wide row is, or a mean of much that cancels."""
    small = DEFAULTS[str(dtype).removeprefix("torch.")].small
    golden = (torch.linspace(0.01, 1.0, 40_000, dtype=torch.float64) * small * share).to(dtype)
    assert not judged(tmp_path, torch.zeros_like(golden), golden).accepted
    assert not judged(tmp_path, golden * 2, golden).accepted
    assert not judged(tmp_path, torch.full_like(golden, float(golden.double().mean())), golden).accepted
    assert not judged(tmp_path, -golden, golden).accepted
    assert judged(tmp_path, golden.clone(), golden).accepted


def test_a_softmax_over_a_very_wide_row_answered_with_zeros_is_refused(tmp_path: Path) -> None:
    for dtype in DTYPES[1:3]:
        golden = torch.full((400_000,), 1 / 400_000, dtype=torch.float64).to(dtype)
        assert not judged(tmp_path, torch.zeros_like(golden), golden).accepted
        assert judged(tmp_path, golden.clone(), golden).accepted


@pytest.mark.parametrize("wrong", [1e30, -1e30, 0.5, math.inf])
@pytest.mark.parametrize("count", [1, 2])
def test_no_large_value_is_free_where_the_golden_is_zero(tmp_path: Path, wrong: float, count: int) -> None:
    golden = torch.zeros(100_000)
    golden[::2] = 1.0
    found = golden.clone()
    found[1 : 2 * count : 2] = wrong
    assert judged(tmp_path, found, golden).rule == "regions.small_size"


def test_less_precision_inside_shows_outside(tmp_path: Path) -> None:
    golden = signal(torch.float32)
    assert not judged(tmp_path, golden.half().float() * (1 + 2.0**-11), golden.float()).accepted
    assert not judged(tmp_path, golden.bfloat16().float(), golden.float()).accepted


@pytest.mark.parametrize("dtype", [torch.int8, torch.float16, torch.bfloat16, torch.float64, torch.bool], ids=str)
def test_no_other_dtype_brings_a_tolerance_of_its_own(tmp_path: Path, dtype: torch.dtype) -> None:
    golden = torch.rand(100, generator=torch.Generator().manual_seed(1))
    assert judged(tmp_path, torch.zeros(100).to(dtype), golden).rule == "structure.dtype"
    assert judged(tmp_path, golden.to(dtype), golden).rule == "structure.dtype"


@pytest.mark.parametrize("dtype", [*DTYPES, torch.int8, torch.int64, torch.uint16, torch.bool], ids=str)
def test_memory_that_nobody_wrote_is_refused(tmp_path: Path, dtype: torch.dtype) -> None:
    golden = torch.tensor([1, 0, 1, 1]).to(dtype)
    unwritten = torch.full((4 * golden.element_size(),), 0xFF, dtype=torch.uint8).view(dtype)
    assert not judged(tmp_path, unwritten, golden).accepted


def test_nan_in_the_golden_is_no_wildcard(tmp_path: Path) -> None:
    golden = torch.tensor([1.0, math.nan, math.inf, -math.inf])
    for found in ([1.0, 5.0, math.inf, -math.inf], [1.0, math.nan, math.nan, -math.inf], [1.0, math.nan, 7.0, 7.0]):
        assert not judged(tmp_path, torch.tensor(found), golden).accepted
    assert judged(tmp_path, golden.clone(), golden).accepted


HONEST: dict[str, Attack] = {
    "the golden itself": lambda y, tau: y,
    "rounding noise": lambda y, tau: y * (1 + 0.4 * tau * torch.linspace(-1, 1, len(y), dtype=torch.float64)),
    "one element at 9 τ": at([77], lambda v, tau: v * (1 + 9 * tau)),
    "a bias of half τ": lambda y, tau: y * (1 + 0.45 * tau),
}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", HONEST)
def test_an_honest_answer_is_accepted(tmp_path: Path, name: str, dtype: torch.dtype) -> None:
    golden, tau = signal(dtype), DEFAULTS[str(dtype).removeprefix("torch.")].mean
    found = cast_once(HONEST[name](golden, tau), dtype)
    result = judged(tmp_path, found, golden.to(dtype))
    assert result.accepted, result


def test_sums_in_another_order_are_accepted(tmp_path: Path) -> None:
    generator = torch.Generator().manual_seed(3)
    x = torch.rand(200, 4096, generator=generator)
    golden = x.double().sum(1).float()
    assert judged(tmp_path, x.flip(1).cumsum(1)[:, -1].contiguous(), golden).accepted
    assert judged(tmp_path, x.view(200, 64, 64).sum(1).sum(1), golden).accepted
