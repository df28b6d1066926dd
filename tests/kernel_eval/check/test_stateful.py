"""Updated buffers: written elements by the rules of their dtype, all others bit by bit."""

from __future__ import annotations

import math
from pathlib import Path

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings

from kernel_eval.check import judge_outputs
from kernel_eval.check.called import Called
from kernel_eval.check.stateful import compare_stateful
from kernel_eval.check.tolerances import DEFAULTS, EXACT, Bounds
from kernel_eval.errors import GoldenFault
from kernel_eval.model import Comparator, OutputSpec, StatefulRule
from tests.factories.slow_check import accepts
from tests.factories.tasks import golden_of, operator_of

NAN = math.nan
F32 = Bounds(DEFAULTS["float32"])
TOUCHED = """
import torch


def golden(cache, rows):
    return cache


def touched(cache, rows):
    mask = torch.zeros(cache.shape[0], 1, dtype=torch.bool)
    mask[rows] = True
    return mask
"""


def never() -> torch.Tensor:
    raise AssertionError("the same-precision run must not be asked for here")


numbers = st.sampled_from([0.0, -0.0, 1.0, 1.0001, 1.0002, 1.01, 2.0, 3e-5, NAN, math.inf])


@settings(max_examples=300, deadline=None)
@given(rows=st.lists(st.tuples(numbers, numbers, numbers, st.booleans()), min_size=1, max_size=12))
def test_verdicts_equal_those_of_a_plain_loop(rows: list[tuple[float, float, float, bool]]) -> None:
    before, after, found = (torch.tensor(column) for column in list(zip(*rows, strict=True))[:3])
    mask = torch.tensor([row[3] for row in rows])
    golden = torch.where(mask, after, before)
    outcome = compare_stateful(found, golden, before, mask, F32, lambda: golden)
    kept = all(
        found[at : at + 1].view(torch.int32) == before[at : at + 1].view(torch.int32)
        for at in range(len(rows))
        if not mask[at]
    )
    assert outcome.passed == (kept and accepts(found[mask], golden[mask], golden[mask]))


def caches() -> tuple[torch.Tensor, torch.Tensor]:
    """(before, golden): two of 64 rows are new."""
    before = torch.randn(64, 32, generator=torch.Generator().manual_seed(4))
    golden = before.clone()
    golden[[3, 40]] = torch.linspace(1, 2, 32)
    return before, golden


def test_only_written_elements_enter_the_statistics() -> None:
    before, golden = caches()
    found = golden.clone()
    found[[3, 40]] *= 1 + 5 * 2**-13
    outcome = compare_stateful(found, golden, before, None, F32, never)
    assert (outcome.passed, outcome.rule) == (False, "stateful.regions.normal_mean")
    assert (outcome.figures["touched"], outcome.figures["untouched"]) == (64, 62 * 32)
    found[[3, 40]] = golden[[3, 40]] * (1 + 2**-14)
    assert compare_stateful(found, golden, before, None, F32, never).passed


@pytest.mark.parametrize("off", [1e-7, -1e-7, NAN, 1.0])
def test_an_element_beside_the_update_stays_bit_by_bit(off: float) -> None:
    before, golden = caches()
    found = golden.clone()
    found[10, 7] += off
    outcome = compare_stateful(found, golden, before, None, F32, never)
    assert (outcome.passed, outcome.rule, outcome.worst) == (False, "stateful.untouched", 10 * 32 + 7)
    assert outcome.against == before[10, 7].item()


def test_a_zero_beside_the_update_keeps_its_sign_and_nan_its_bits() -> None:
    before = torch.tensor([0.0, -0.0, NAN, 1.0])
    golden = torch.tensor([0.0, -0.0, NAN, 2.0])
    assert compare_stateful(golden.clone(), golden, before, None, F32, never).passed
    for at, value in ((0, -0.0), (1, 0.0), (2, 5.0)):
        found = golden.clone()
        found[at] = value
        assert compare_stateful(found, golden, before, None, F32, never).rule == "stateful.untouched"


def test_an_update_left_out_and_one_of_everything_are_refused() -> None:
    before, golden = caches()
    assert not compare_stateful(before.clone(), golden, before, None, F32, lambda: golden).passed
    assert compare_stateful(golden[0].expand(64, 32).contiguous(), golden, before, None, F32, never).rule == (
        "stateful.untouched"
    )


def test_a_quantised_cache_has_its_tolerance_where_it_is_written() -> None:
    before = torch.zeros(4000, dtype=torch.int8)
    golden, bounds = before.clone(), Bounds(integer_tolerance=1)
    golden[:100] = 50
    found = golden.clone()
    found[3] = 51
    assert compare_stateful(found, golden, before, None, bounds, never).passed
    found[4] = 51
    assert not compare_stateful(found, golden, before, None, bounds, lambda: golden).passed
    found[4], found[2000] = 50, 1
    assert compare_stateful(found, golden, before, None, bounds, never).rule == "stateful.untouched"


def test_the_goldens_file_says_what_is_written(tmp_path: Path) -> None:
    spec = OutputSpec("out", "same as cache", comparator=Comparator.STATEFUL, rule=StatefulRule("cache", "touched"))
    operator = operator_of(tmp_path / "sample", TOUCHED, outputs=(spec,))
    cache, rows = torch.zeros(8, 4), torch.tensor([2, 5])
    golden = cache.clone()
    golden[2] = 1.0  # row 5 is written as well, with what stood there
    call = Called(lambda: {"cache": cache, "rows": rows}, {}, operator.folder)
    found = golden.clone()
    found[5] = -0.0
    result = judge_outputs(operator, golden_of(golden), [[found]], lambda: [[golden]], call)
    assert (result.accepted, result.rule) == (True, "stateful.first_screen")
    found[6] = -0.0
    result = judge_outputs(operator, golden_of(golden), [[found]], lambda: [[golden]], call)
    assert result.rule == "stateful.untouched"
    golden[7] = 3.0
    with pytest.raises(GoldenFault, match="calls untouched"):
        judge_outputs(operator, golden_of(golden), [[found]], lambda: [[golden]], call)


def test_a_mask_that_does_not_fit_is_our_fault() -> None:
    before, golden = caches()
    for mask in (torch.ones(64), torch.ones(7, dtype=torch.bool)):
        with pytest.raises(GoldenFault):
            compare_stateful(golden, golden, before, mask, F32, never)
    with pytest.raises(GoldenFault, match="shape and dtype"):
        compare_stateful(golden, golden, before.half(), None, EXACT, never)
