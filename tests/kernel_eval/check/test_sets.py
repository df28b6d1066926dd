"""Outputs in any order: multisets, in the whole tensor or along an axis."""

from __future__ import annotations

import math
from pathlib import Path

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings

from kernel_eval.check import judge_outputs
from kernel_eval.check.called import Called
from kernel_eval.check.tolerances import DEFAULTS, EXACT, Bounds
from kernel_eval.check.unordered import compare_sets
from kernel_eval.model import Comparator, OutputSpec, SetRule
from tests.factories.slow_check import accepts
from tests.factories.slow_rules import in_order, multiset
from tests.factories.tasks import golden_of, operator_of

NAN, INF = math.nan, math.inf
INTEGERS = [torch.int8, torch.uint8, torch.uint16, torch.int32, torch.uint32, torch.int64, torch.uint64, torch.bool]
FLOATS = [torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2]
few = st.sampled_from([0.0, -0.0, 1.0, 1.001, 1.5, -2.0, 3e-5, NAN, INF, -INF])


def never() -> torch.Tensor:
    raise AssertionError("the same-precision run must not be asked for here")


@settings(max_examples=200, deadline=None)
@given(data=st.data(), dtype=st.sampled_from(INTEGERS))
def test_integers_pass_exactly_if_the_multisets_are_equal(data: st.DataObject, dtype: torch.dtype) -> None:
    ends = [0, 1] if dtype == torch.bool else [torch.iinfo(dtype).min, 0, 1, 2, torch.iinfo(dtype).max]
    golden = data.draw(st.lists(st.sampled_from(ends), max_size=8))
    found = data.draw(st.one_of(st.permutations(golden), st.lists(st.sampled_from(ends), min_size=len(golden),
                                                                  max_size=len(golden))))  # fmt: skip
    outcome = compare_sets(torch.tensor(found, dtype=dtype), torch.tensor(golden, dtype=dtype), None, EXACT, never)
    assert outcome.passed == (multiset(found) == multiset(golden))


@settings(max_examples=200, deadline=None)
@given(golden=st.lists(few, min_size=1, max_size=8), data=st.data(), dtype=st.sampled_from(FLOATS))
def test_floats_are_paired_in_ascending_order(golden: list[float], data: st.DataObject, dtype: torch.dtype) -> None:
    found = data.draw(st.one_of(st.permutations(golden), st.lists(few, min_size=len(golden), max_size=len(golden))))
    left, right = (torch.tensor(column, dtype=torch.float32).to(dtype) for column in (found, golden))
    bounds = Bounds(DEFAULTS[str(dtype).removeprefix("torch.")])
    outcome = compare_sets(left, right, None, bounds, lambda: right)
    ordered = [torch.tensor(in_order(tensor.float().tolist())).to(dtype) for tensor in (left, right)]
    assert outcome.passed == accepts(ordered[0], ordered[1], ordered[1])


def test_rows_are_sets_of_their_own_along_an_axis() -> None:
    golden = torch.tensor([[1, 2, 3], [4, 5, 6]])
    assert compare_sets(golden.flip(1), golden, -1, EXACT, never).passed
    assert not compare_sets(golden.flip(0), golden, 1, EXACT, never).passed
    assert compare_sets(golden.flip(0), golden, 0, EXACT, never).passed
    assert compare_sets(golden.t().contiguous().view(2, 3), golden, None, EXACT, never).passed
    assert not compare_sets(torch.tensor([[1, 2, 4], [3, 5, 6]]), golden, -1, EXACT, never).passed


@pytest.mark.parametrize(
    ("golden", "found"),
    [
        ([1.0, 1.0, 2.0], [1.0, 2.0, 2.0]),
        ([1.0, 2.0, NAN], [1.0, NAN, NAN]),
        ([1.0, 2.0, INF], [1.0, INF, INF]),
        ([INF, -INF, 1.0], [INF, INF, 1.0]),
        ([1.0, 2.0, 3.0], [1.0, 2.0, 3.1]),
        ([1.0, 2.0, 3.0], [0.0, 0.0, 0.0]),
        ([5.0, 5.0], [5.0, -5.0]),
    ],
)
def test_no_value_stands_in_for_another(golden: list[float], found: list[float]) -> None:
    right = torch.tensor(golden)
    assert not compare_sets(torch.tensor(found), right, None, Bounds(DEFAULTS["float32"]), lambda: right).passed


def test_the_worst_element_is_named_where_it_stands_with_what_it_was_paired_with(tmp_path: Path) -> None:
    spec = OutputSpec("y", "same as x", comparator=Comparator.SET, rule=SetRule("dim"))
    operator = operator_of(tmp_path / "sample", outputs=(spec,))
    golden = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    found = torch.tensor([[3.0, 1.0, 2.0], [6.0, 5.5, 4.0]])
    call = Called(dict, {"dim": -1}, tmp_path)
    result = judge_outputs(operator, golden_of(golden), [[found]], lambda: [[golden]], call)
    assert (result.accepted, result.rule, result.threshold) == (False, "set.regions.normal", 2**-13)
    assert result.worst is not None
    assert (result.worst.index, result.worst.golden, result.worst.found) == (4, 5.0, 5.5)


def test_empty_and_zero_dimensional_sets_are_judged() -> None:
    assert compare_sets(torch.empty(0, 4), torch.empty(0, 4), 1, Bounds(DEFAULTS["float32"]), never).passed
    assert compare_sets(torch.tensor(3), torch.tensor(3), -1, EXACT, never).passed
    assert not compare_sets(torch.tensor(3), torch.tensor(4), None, EXACT, never).passed


def test_a_quantised_set_has_its_tolerance_and_its_cap() -> None:
    golden = torch.arange(0, 100, 5, dtype=torch.int8)
    found = golden.flip(0).clone()
    found[3] += 1
    assert compare_sets(found, golden, None, Bounds(integer_tolerance=1), never).passed
    found[5] -= 1
    assert not compare_sets(found, golden, None, Bounds(integer_tolerance=1), lambda: golden.flip(0)).passed
