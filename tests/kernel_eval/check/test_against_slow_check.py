"""The fast check gives the verdicts of the slow, obviously right one."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings

from kernel_eval.check.relative import compare_floats
from kernel_eval.check.tolerances import DEFAULTS, Bounds
from kernel_eval.check.values import compare_values
from tests.factories.slow_check import FIGURES, HIFLOAT32, accepts
from tests.factories.slow_rules import same

DTYPES = [torch.float32, torch.float16, torch.bfloat16]
EIGHT_BIT = [torch.float8_e4m3fn, torch.float8_e5m2]
NAMES = ["hifloat32", *(str(dtype).removeprefix("torch.") for dtype in FIGURES)]
MAGNITUDES = [
    0.0,
    1e-45,
    1e-38,
    1e-9,
    1e-7,
    1e-5,
    3e-5,
    2e-4,
    4e-4,
    1e-3,
    3e-3,
    0.01,
    0.03,
    0.1,
    0.5,
    1.0,
    7.0,
    300.0,
    6e4,
    3e38,
]
ERRORS = [0.0, 0.0, 0.0, 1e-7, 1e-5, 1e-4, 5e-4, 1.1e-3, 1.3e-3, 3e-3, 8e-3, 0.02, 0.09, 0.5, 1.0, 2.0]
SPECIAL = [math.nan, math.inf, -math.inf]

magnitude = st.sampled_from(MAGNITUDES).flatmap(lambda base: st.floats(0.5, 2).map(lambda factor: base * factor))
value = st.one_of(magnitude, magnitude.map(lambda number: -number), st.sampled_from([*SPECIAL, 0.0, -0.0]))


@st.composite
def elements(draw: st.DrawFn) -> tuple[float, float, float]:
    """(golden, found, same-precision) of one position, often nearly right."""
    golden = draw(value) if draw(st.integers(0, 9)) == 0 else draw(magnitude)
    found = golden * (1 + draw(st.sampled_from(ERRORS)) * draw(st.sampled_from([1, -1])))
    match draw(st.integers(0, 30)):
        case 0:
            found = draw(value)
        case 1:
            found = 0.0
        case 2:
            found = golden + draw(st.sampled_from([1e-9, 1e-7, 1e-5, 1e-3]))
    peer = golden * (1 + draw(st.sampled_from(ERRORS)))
    if draw(st.integers(0, 30)) == 0:
        peer = draw(value)
    return golden, found, peer


@settings(max_examples=250, deadline=None)
@given(rows=st.lists(elements(), min_size=1, max_size=25), dtype=st.sampled_from(DTYPES), relief=st.booleans())
def test_verdicts_equal_those_of_the_slow_check(
    dtype: torch.dtype, relief: bool, rows: list[tuple[float, float, float]]
) -> None:
    check_rows(dtype, relief, rows)


@pytest.mark.slow
@settings(max_examples=8000, deadline=None)
@given(rows=st.lists(elements(), min_size=1, max_size=60), dtype=st.sampled_from(DTYPES), relief=st.booleans())
def test_many_verdicts_equal_those_of_the_slow_check(
    dtype: torch.dtype, relief: bool, rows: list[tuple[float, float, float]]
) -> None:
    check_rows(dtype, relief, rows)


def check_rows(dtype: torch.dtype, relief: bool, rows: list[tuple[float, float, float]]) -> None:
    golden, found, peer = (torch.tensor(column, dtype=torch.float64).to(dtype) for column in zip(*rows, strict=True))
    tolerance = DEFAULTS[str(dtype).removeprefix("torch.")]
    outcome = compare_floats(found, golden, tolerance, relief, lambda: peer)
    assert outcome.passed == accepts(found, golden, peer, relief)


@settings(max_examples=150, deadline=None)
@given(rows=st.lists(elements(), min_size=1, max_size=25), dtype=st.sampled_from(EIGHT_BIT), relief=st.booleans())
def test_eight_bit_verdicts_equal_those_of_the_slow_check(
    dtype: torch.dtype, relief: bool, rows: list[tuple[float, float, float]]
) -> None:
    coarse = [tuple(max(min(number, 500.0), -500.0) for number in row) for row in rows]
    check_rows(dtype, relief, coarse)


@pytest.mark.slow
@settings(max_examples=4000, deadline=None)
@given(rows=st.lists(elements(), min_size=1, max_size=60), dtype=st.sampled_from(EIGHT_BIT), relief=st.booleans())
def test_many_eight_bit_verdicts_equal_those_of_the_slow_check(
    dtype: torch.dtype, relief: bool, rows: list[tuple[float, float, float]]
) -> None:
    check_rows(dtype, relief, [tuple(max(min(number, 500.0), -500.0) for number in row) for row in rows])


cancelled = st.tuples(*[st.sampled_from([0.0, 1e-4, 1e-3, 1.1e-3, 2e-3, -2e-3, 3e-3, -3e-3])] * 3)


@settings(max_examples=200, deadline=None)
@given(rows=st.lists(cancelled, min_size=1, max_size=4), dtype=st.sampled_from(DTYPES))
def test_verdicts_where_everything_cancels_equal_those_of_the_slow_check(
    dtype: torch.dtype, rows: list[tuple[float, float, float]]
) -> None:
    check_rows(dtype, False, rows)


@settings(max_examples=100, deadline=None)
@given(rows=st.lists(elements(), min_size=1, max_size=25), relief=st.booleans())
def test_verdicts_in_a_carried_format_equal_those_of_the_slow_check(
    relief: bool, rows: list[tuple[float, float, float]]
) -> None:
    golden, found, peer = (torch.tensor(column, dtype=torch.float64).float() for column in zip(*rows, strict=True))
    outcome = compare_floats(found, golden, DEFAULTS["hifloat32"], relief, lambda: peer)
    assert outcome.passed == accepts(found, golden, peer, relief, HIFLOAT32)


@pytest.mark.parametrize("name", NAMES)
def test_the_bounds_are_those_of_the_slow_check(name: str) -> None:
    bounds = DEFAULTS[name]
    found = (
        bounds.mean, bounds.small, bounds.small_error, bounds.cancelled, bounds.largest, bounds.tiniest, bounds.relief,
    )  # fmt: skip
    assert found == (HIFLOAT32 if name == "hifloat32" else FIGURES[getattr(torch, name)])
    assert set(NAMES) == set(DEFAULTS)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    share=st.sampled_from([0.0, 0.001, 0.1]),
    error=st.sampled_from(ERRORS),
    dtype=st.sampled_from(DTYPES),
)
def test_tensors_of_several_chunks_are_judged_like_small_ones(
    dtype: torch.dtype, seed: int, share: float, error: float
) -> None:
    generator = torch.Generator().manual_seed(seed)
    count = 3 * 1500
    scale = torch.exp2(torch.rand(count, generator=generator, dtype=torch.float64) * 30 - 20)
    golden = (torch.randn(count, generator=generator, dtype=torch.float64) * scale).to(dtype)
    hit = torch.rand(count, generator=generator) < share
    found = torch.where(hit, golden.double() * (1 + error), golden.double()).to(dtype)
    tolerance = DEFAULTS[str(dtype).removeprefix("torch.")]
    with pytest.MonkeyPatch.context() as patch:
        for name, size in {
            "chunks.CHUNK": 1 << 9,
            "screen.PIECE": 1 << 9,
            "measure.PIECE": 700,
            "chunks.ALONE": 1 << 10,
        }.items():
            patch.setattr(f"kernel_eval.check.{name}", size)
        outcome = compare_floats(found, golden, tolerance, False, lambda: golden)
    assert outcome.passed == accepts(found, golden, golden)
    if outcome.worst is not None and outcome.rule == "first_screen":
        errors = (found.double() - golden.double()).abs() / (golden.double().abs() + 1e-7)
        assert errors[outcome.worst].item() == pytest.approx(errors.max().item(), rel=1e-5, abs=1e-12)


def test_the_verdict_does_not_depend_on_the_number_of_threads(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    generator = torch.Generator().manual_seed(7)
    golden = torch.randn(600_000, generator=generator)
    found = golden + 1e-5 * torch.randn(600_000, generator=generator)
    outcomes = []
    for cores in ({0}, {0, 1}, set(range(7))):
        monkeypatch.setattr("os.sched_getaffinity", lambda _, cores=cores: cores)
        outcomes.append(compare_floats(found, golden, DEFAULTS["float32"], False, lambda: golden))
    assert outcomes[0] == outcomes[1] == outcomes[2]
    assert outcomes[0].rule != "first_screen"


exact_value = st.sampled_from([0.0, -0.0, 1.0, 1.0 + 2**-23, -1.0, 1e-45, MAGNITUDES[-1], *SPECIAL])


@settings(max_examples=200, deadline=None)
@given(rows=st.lists(st.tuples(exact_value, exact_value), min_size=1, max_size=6), signed=st.booleans())
def test_exact_floats_and_signed_zeros_follow_plain_python(rows: list[tuple[float, float]], signed: bool) -> None:
    found, golden = (torch.tensor(column) for column in zip(*rows, strict=True))
    bounds = Bounds(replace(DEFAULTS["float32"], mean=0.0), signed_zero=signed)
    outcome = compare_values(found, golden, bounds, lambda: golden)
    pairs = list(zip(found.tolist(), golden.tolist(), strict=True))
    expected = all(same(one, other) for one, other in pairs)
    if signed:
        zeros = [pair for pair in pairs if pair == (0, 0)]
        expected &= all(math.copysign(1, one) == math.copysign(1, other) for one, other in zeros)
    assert outcome.passed == expected, outcome
