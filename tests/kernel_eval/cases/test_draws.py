"""Structures that `constrain` functions draw: what they promise, in the same bits everywhere."""

from __future__ import annotations

import hashlib
from pathlib import Path

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings

from kernel_eval.cases.draws import Draws
from kernel_eval.cases.inputs import SECOND_TRIAL, make_inputs
from kernel_eval.cases.streams import stream
from kernel_eval.model import AttributeSpec, InputSpec, RangeKind, ValueRange
from tests.factories.tasks import case_of, operator_of

SEED = b"draws"


def draws(seed: int | str = 0) -> Draws:
    return Draws(stream(SEED, seed))


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 999), low=st.integers(-(2**40), 2**40), span=st.integers(0, 2**40), count=st.integers(0, 50))
def test_integers_lie_in_their_range(seed: int, low: int, span: int, count: int) -> None:
    found = draws(seed).integers(low, low + span, count)
    assert (found.dtype, found.numel()) == (torch.int64, count)
    assert all(low <= number <= low + span for number in found.tolist())


def test_integers_reach_both_ends() -> None:
    assert set(draws().integers(-2, 2, 200).tolist()) == {-2, -1, 0, 1, 2}
    with pytest.raises(ValueError, match="no integer"):
        draws().integers(1, 0, 1)


def test_floats_fill_their_range_evenly() -> None:
    found = draws().floats(-3.0, 5.0, 20_000)
    assert found.min() >= -3
    assert found.max() < 5
    assert found.mean().item() == pytest.approx(1.0, abs=0.1)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 999), count=st.integers(0, 60), more=st.integers(0, 20))
def test_permutations_and_distinct_numbers_repeat_none(seed: int, count: int, more: int) -> None:
    assert sorted(draws(seed).permutation(count).tolist()) == list(range(count))
    chosen = draws(seed).distinct(count, count + more).tolist()
    assert len(set(chosen)) == count
    assert all(0 <= number < count + more for number in chosen)
    with pytest.raises(ValueError, match="no 5 different"):
        draws().distinct(5, 4)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 999), total=st.integers(0, 500), groups=st.integers(1, 40))
def test_groups_add_up_and_offsets_ascend(seed: int, total: int, groups: int) -> None:
    counts, offsets = draws(seed).counts(total, groups).tolist(), draws(seed).offsets(total, groups).tolist()
    assert (len(counts), sum(counts), min(counts) >= 0) == (groups, total, True)
    assert (offsets, offsets[-1]) == (sorted(offsets), total)


def test_groups_are_uneven() -> None:
    assert all(len(set(draws(seed).counts(1000, 8).tolist())) > 4 for seed in range(20))


def test_rotations_turn_all_round_and_keep_lengths() -> None:
    cosine, sine = draws().rotations(4000)
    assert torch.allclose(cosine.square() + sine.square(), torch.ones(4000, dtype=torch.float64), rtol=0, atol=1e-15)
    quadrants = {(bool(c > 0), bool(s > 0)) for c, s in zip(cosine.tolist(), sine.tolist(), strict=True)}
    assert len(quadrants) == 4


def test_boxes_have_ordered_corners_and_scores_no_ties() -> None:
    boxes = draws().boxes(64.0, 500)
    assert (boxes[:, 0] <= boxes[:, 2]).all()
    assert (boxes[:, 1] <= boxes[:, 3]).all()
    assert boxes.min() >= 0
    assert boxes.max() < 64
    scores = draws().scores(500)
    assert len(set(scores.tolist())) == 500
    assert (scores.min() > 0, scores.max()) == (True, 1)


def test_ties_copy_values_that_are_there() -> None:
    tensor = torch.arange(4000.0)
    draws().tie(tensor, 0.5)
    left = set(tensor.tolist())
    assert left < set(range(4000))
    assert 2000 < len(left) < 3500
    draws().tie(torch.empty(0), 0.5)


def test_the_bits_are_pinned() -> None:
    """A change of these bits changes every structured input of every suite: it needs a new suite version."""
    source, digest = draws("pinned"), hashlib.sha256()
    parts = [source.integers(-7, 1 << 40, 9), source.floats(-1, 3, 9), source.permutation(9), source.counts(99, 5)]
    parts += [*source.rotations(9), source.boxes(7.0, 3), source.scores(5), source.mask(0.5, 9)]
    for part in parts:
        digest.update(part.contiguous().numpy().tobytes())
    assert digest.hexdigest()[:16] == "2d9dd4d1c2a6c7d9"


CONSTRAINED = """
import torch


def golden(x, index, dim=0):
    return x


def constrain(draws, x, index, dim):
    index.copy_(draws.distinct(index.numel(), x.shape[dim]))
    draws.tie(x, 0.3)
"""


def test_constrained_inputs_follow_case_and_trial_and_get_default_attributes(tmp_path: Path) -> None:
    specs = (InputSpec("x", ("float32",)), InputSpec("index", ("int64",)))
    operator = operator_of(tmp_path / "sample", CONSTRAINED, inputs=specs, attributes=(AttributeSpec("dim", "int", 0),))
    ranges = [ValueRange(RangeKind.UNIFORM, -1, 1), ValueRange(RangeKind.UNIFORM, 0, 5)]
    case = case_of(operator, [(400,), (300,)], ["float32", "int64"], ranges)
    first, again, other, second = (make_inputs(operator, case, SEED, trial) for trial in (0, 0, 1, SECOND_TRIAL))
    assert all(map(torch.equal, first, again))
    for x, index in (first, other, second):
        assert len(set(index.tolist())) == 300
        assert index.max() < 400
        assert len(set(x.tolist())) < 350
    assert not torch.equal(first[1], other[1])
    assert not torch.equal(first[1], second[1])
