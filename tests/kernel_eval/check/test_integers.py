"""Integers: exact, or within a declared tolerance of which few elements may make use; nothing wraps."""

from __future__ import annotations

from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
import torch
from hypothesis import given, settings

from kernel_eval.check import judge_outputs
from kernel_eval.check.integers import compare_integers, distances
from kernel_eval.model import Comparison, OutputSpec, Verdict
from tests.factories.slow_rules import integers_accept
from tests.factories.tasks import golden_of, operator_of

DTYPES = [
    torch.int8, torch.uint8, torch.int16, torch.uint16, torch.int32, torch.uint32, torch.int64, torch.uint64,
]  # fmt: skip
TOLERANCES = [0, 1, 2, 127, 2**31 - 1]


def never() -> torch.Tensor:
    raise AssertionError("the same-precision run must not be asked for here")


@st.composite
def columns(draw: st.DrawFn) -> tuple[torch.dtype, list[int], list[int], list[int]]:
    """(dtype, golden, found, same-precision), mostly near each other, often at the ends of the dtype."""
    dtype = draw(st.sampled_from(DTYPES))
    low, high = torch.iinfo(dtype).min, torch.iinfo(dtype).max
    ends = st.sampled_from([low, low + 1, 0, high - 1, high])
    golden = draw(st.lists(st.one_of(ends, st.integers(low, high)), min_size=1, max_size=40))

    def near(value: int) -> int:
        step = draw(st.sampled_from([0, 0, 0, 0, 1, -1, 2, -2, 127, 2**31 - 1, 2**31, high - low, low - high]))
        moved = value + step
        return moved if low <= moved <= high else draw(ends)

    return dtype, golden, [near(value) for value in golden], [near(value) for value in golden]


@settings(max_examples=300, deadline=None)
@given(drawn=columns(), tolerance=st.sampled_from(TOLERANCES))
def test_verdicts_equal_those_of_python_integers(
    drawn: tuple[torch.dtype, list[int], list[int], list[int]], tolerance: int
) -> None:
    dtype, golden, found, peer = drawn
    tensors = [torch.tensor(column, dtype=dtype) for column in (found, golden, peer)]
    outcome = compare_integers(tensors[0], tensors[1], tolerance, lambda: tensors[2])
    assert outcome.passed == integers_accept(found, golden, peer, tolerance), outcome
    if outcome.worst is not None:
        off = [abs(one - other) for one, other in zip(found, golden, strict=True)]
        assert off[outcome.worst] == max(off)
        assert outcome.figures["largest_difference"] == float(max(off))
        assert outcome.figures["differing"] == sum(map(bool, off))


@settings(max_examples=60, deadline=None)
@given(
    count=st.sampled_from([999, 1000, 1001, 2999, 3000, 3001, 70_000]),
    more=st.integers(-1, 1),
    peers=st.sampled_from([0, 1, 40]),
)
def test_the_mismatch_cap_is_exact(count: int, more: int, peers: int) -> None:
    golden = torch.zeros(count, dtype=torch.int8)
    found, peer = golden.clone(), golden.clone()
    differing = max(2 * peers, count // 1000, 1) + more
    found[:differing] = 1
    peer[:peers] = 5
    outcome = compare_integers(found, golden, 1, lambda: peer)
    assert outcome.passed == integers_accept(found.tolist(), golden.tolist(), peer.tolist(), 1)
    assert outcome.passed == (more <= 0)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_the_ends_of_a_dtype_are_as_far_apart_as_they_are(dtype: torch.dtype) -> None:
    low, high = torch.iinfo(dtype).min, torch.iinfo(dtype).max
    pair = torch.tensor([low, high], dtype=dtype).numpy()
    assert distances(pair, pair[::-1]).tolist() == [high - low] * 2
    assert distances(np.array([low], pair.dtype), np.array([low], pair.dtype)).tolist() == [0]
    found, golden = torch.tensor([high], dtype=dtype), torch.tensor([low], dtype=dtype)
    refused = compare_integers(found, golden, 1, never)
    assert (refused.passed, refused.rule) == (False, "integers.tolerance")
    assert f"{high} at 0 instead of {low}" in refused.message


def judged(tmp_path: Path, found: torch.Tensor, golden: torch.Tensor, peer: torch.Tensor | None = None) -> Comparison:
    spec = OutputSpec("y", "int8", integer_tolerance=1)
    operator = operator_of(tmp_path / "sample", outputs=(spec,))

    def same_precision() -> list[list[torch.Tensor]]:
        return [[never() if peer is None else peer]]

    return judge_outputs(operator, golden_of(golden), [[found]], same_precision)


def test_a_quantised_output_says_tolerance_figures_and_worst(tmp_path: Path) -> None:
    golden = torch.arange(120, dtype=torch.int8)
    found = golden.clone()
    found[7] += 1
    result = judged(tmp_path, found, golden)
    assert (result.accepted, result.rule) == (True, "integers.tolerance")
    assert (result.threshold, result.relaxed) == (1.0, True)
    assert result.worst is not None
    assert (result.worst.index, result.worst.golden, result.worst.found) == (7, 7.0, 8.0)
    assert result.figures["differing"] == 1


def test_a_bias_of_one_everywhere_is_no_rounding(tmp_path: Path) -> None:
    golden = torch.arange(100, dtype=torch.int8)
    result = judged(tmp_path, golden + 1, golden, golden)
    assert (result.verdict, result.rule) == (Verdict.WRONG_VALUES, "integers.mismatches")
    assert "allowed are 1" in result.message
    assert result.figures["same_precision_differing"] == 0


def test_as_many_as_twice_the_plain_runs_mismatches_are_granted(tmp_path: Path) -> None:
    golden = torch.zeros(100, dtype=torch.int8)
    found, peer = golden.clone(), golden.clone()
    found[:20] = 1
    peer[50:60] = -1
    assert judged(tmp_path, found, golden, peer).accepted
    found[20] = 1
    assert not judged(tmp_path, found, golden, peer).accepted
    found[:] = 0
    found[3] = 2
    assert judged(tmp_path, found, golden).rule == "integers.tolerance"


def test_a_tolerance_never_reaches_bool(tmp_path: Path) -> None:
    spec = OutputSpec("y", "bool", integer_tolerance=1)
    operator = operator_of(tmp_path / "sample", outputs=(spec,))
    golden = torch.tensor([True] * 2000)
    found = golden.clone()
    found[5] = False
    result = judge_outputs(operator, golden_of(golden), [[found]], lambda: [[never()]])
    assert (result.accepted, result.rule) == (False, "boolean")


def test_integers_of_several_chunks_are_counted_together(tmp_path: Path) -> None:
    golden = torch.zeros(400_000, dtype=torch.int32)
    found = golden.clone()
    found[[3, 300_000, 399_999]] = torch.tensor([1, -9, 2], dtype=torch.int32)
    refused = compare_integers(found, golden, 0, never)
    assert (refused.worst, refused.figures) == (
        300_000,
        {"elements": 400_000, "differing": 3, "largest_difference": 9.0},
    )
