"""Inputs: the same bits everywhere, in the declared ranges, one stream per tensor."""

from __future__ import annotations

import hashlib
import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from kernel_eval.cases import inputs as inputs_module
from kernel_eval.cases.inputs import (
    SECOND_TRIAL,
    argument_specs,
    call_attributes,
    fill_decoys,
    fill_inputs,
    make_inputs,
)
from kernel_eval.cases.streams import STRETCH
from kernel_eval.errors import GoldenFault, InternalError
from kernel_eval.model import ArgumentSpec, AttributeSpec, InputSpec, Operator, RangeKind, TensorSpec, ValueRange
from tests.factories.tasks import ALL_DTYPES, FLOATS, PLAIN, case_of, operator_of

SEED = b"seed of these tests"
COUNT = 40_000


def uniform(low: float, high: float) -> ValueRange:
    return ValueRange(RangeKind.UNIFORM, low, high)


def drawn(operator: Operator, dtype: str, values: ValueRange, count: int = COUNT) -> torch.Tensor:
    return make_inputs(operator, case_of(operator, [(count,)], [dtype], [values]), SEED, 0)[0]


def digest(tensor: torch.Tensor) -> str:
    return hashlib.sha256(tensor.reshape(-1).view(torch.uint8).numpy().tobytes()).hexdigest()[:16]


@pytest.fixture
def operator(tmp_path: Path) -> Operator:
    return operator_of(tmp_path / "sample")


PINNED = {
    "float32": "840ccbbf58af8adb",
    "float16": "4b25c8f709f13440",
    "bfloat16": "a3e8e8b13b276297",
    "int8": "790e1788f42f309d",
    "int64": "8d8b84e13eafbbd4",
    "bool": "2dcd4c1b56204c69",
}


@pytest.mark.parametrize(("dtype", "expected"), PINNED.items())
def test_the_bits_are_pinned(operator: Operator, dtype: str, expected: str) -> None:
    assert digest(drawn(operator, dtype, uniform(-3, 7))) == expected


@pytest.mark.parametrize("kind", [RangeKind.UNIFORM, RangeKind.NAN, RangeKind.INF, RangeKind.BOUNDARY])
def test_the_number_of_threads_changes_no_bit(
    operator: Operator, kind: RangeKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = 2 * STRETCH + 12_345
    digests = set()
    for cores in ({0}, {0, 1, 2}):
        monkeypatch.setattr("os.sched_getaffinity", lambda _, cores=cores: cores)
        digests.add(digest(drawn(operator, "float32", ValueRange(kind, -2, 5), count)))
    monkeypatch.setattr(inputs_module, "SMALL_ELEMENTS", count + 1)
    digests.add(digest(drawn(operator, "float32", ValueRange(kind, -2, 5), count)))
    assert len(digests) == 1


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("low", "high"), [(-1, 1), (-0.3, 0.7), (5, 6), (-65504, 65504), (0.1, 0.1), (-1e-3, 88)])
def test_floats_fill_their_range_evenly(operator: Operator, dtype: str, low: float, high: float) -> None:
    values = drawn(operator, dtype, uniform(low, high)).double()
    ends = torch.tensor([low, high]).to(getattr(torch, dtype)).double()
    assert values.min() >= ends[0]
    assert values.max() <= ends[1]
    middle, width = (low + high) / 2, high - low
    assert values.mean().item() == pytest.approx(middle, abs=0.01 * width + 0.005 * abs(middle) + 1e-12)
    assert values.std().item() == pytest.approx(width / math.sqrt(12), rel=0.03, abs=0.005 * abs(middle))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64", "uint16", "uint32", "uint64"])
def test_integers_include_both_ends(operator: Operator, dtype: str) -> None:
    values = drawn(operator, dtype, uniform(3, 9)).to(torch.int64)
    assert sorted(set(values.tolist())) == list(range(3, 10))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64", "uint64"])
def test_integers_reach_the_whole_dtype_at_a_boundary(operator: Operator, dtype: str) -> None:
    bounds = torch.iinfo(getattr(torch, dtype))
    values = [int(value) for value in drawn(operator, dtype, ValueRange(RangeKind.BOUNDARY)).tolist()]
    assert min(values) < bounds.min + 0.01 * (bounds.max - bounds.min)
    assert max(values) > bounds.max - 0.01 * (bounds.max - bounds.min)


def test_wide_integer_ranges_are_kept(operator: Operator) -> None:
    values = drawn(operator, "int64", uniform(-(2.0**40), 2.0**40))
    assert values.abs().max() <= 2**40
    assert values.abs().max() > 2**39


def test_bool_honours_its_range(operator: Operator) -> None:
    assert 0.45 < drawn(operator, "bool", uniform(0, 1)).double().mean().item() < 0.55
    assert not drawn(operator, "bool", uniform(0, 0)).any()
    assert drawn(operator, "bool", uniform(1, 1)).all()


@pytest.mark.parametrize("dtype", FLOATS)
def test_infinities_stand_at_both_ends(operator: Operator, dtype: str) -> None:
    values = drawn(operator, dtype, ValueRange(RangeKind.INF, -1, 1))
    assert (values[:2000] == -math.inf).all()
    assert (values[-2000:] == math.inf).all()
    assert values[2000:-2000].isfinite().all()


@pytest.mark.parametrize("dtype", FLOATS)
def test_about_half_are_nan(operator: Operator, dtype: str) -> None:
    values = drawn(operator, dtype, ValueRange(RangeKind.NAN, -1, 1))
    assert 0.48 < values.isnan().double().mean().item() < 0.52
    assert values[~values.isnan()].abs().max() <= 1


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_boundary_reaches_the_dtypes_ends_and_stays_finite(operator: Operator, dtype: str) -> None:
    values = drawn(operator, dtype, ValueRange(RangeKind.BOUNDARY))
    largest = torch.finfo(values.dtype).max
    assert (values[0].item(), values[-1].item()) == (-largest, largest)
    assert values.isfinite().all()


def test_ranges_beyond_a_dtype_are_cut_to_it(operator: Operator) -> None:
    assert drawn(operator, "float16", uniform(-1e6, 1e6)).isfinite().all()
    assert drawn(operator, "int8", uniform(-1000, 1000)).double().abs().max() >= 127


def test_zero_fills(operator: Operator) -> None:
    assert not any(
        drawn(operator, dtype, ValueRange(RangeKind.ZERO)).any() for dtype in ALL_DTYPES if "uint" not in dtype
    )


def test_seed_case_trial_and_tensor_each_give_other_values(operator: Operator) -> None:
    case = case_of(operator, [(64,)])
    tensors = [
        make_inputs(operator, case, SEED, 0)[0],
        make_inputs(operator, case, SEED, 1)[0],
        make_inputs(operator, case, SEED + b"x", 0)[0],
        make_inputs(operator, replace(case, case_id=2), SEED, 0)[0],
    ]
    assert len({digest(tensor) for tensor in tensors}) == 4
    assert torch.equal(tensors[0], make_inputs(operator, case, SEED, 0)[0])


def test_an_added_input_changes_no_other(tmp_path: Path) -> None:
    two = operator_of(tmp_path / "sample", inputs=(InputSpec("a", FLOATS), InputSpec("x", FLOATS)))
    one = operator_of(tmp_path / "sample")
    alone = make_inputs(one, case_of(one, [(99,)]), SEED, 0)
    both = make_inputs(two, case_of(two, [(5,), (99,)], ["float32"] * 2, [PLAIN, PLAIN]), SEED, 0)
    assert torch.equal(alone[0], both[1])


def test_a_longer_tensor_begins_like_a_shorter_one(operator: Operator) -> None:
    assert torch.equal(drawn(operator, "float32", PLAIN, 1000), drawn(operator, "float32", PLAIN, 70_000)[:1000])


def test_lists_and_omitted_inputs_are_flattened(tmp_path: Path) -> None:
    specs = (InputSpec("a", FLOATS, tensor_list=True), InputSpec("b", FLOATS, optional=True), InputSpec("c", FLOATS))
    operator = operator_of(tmp_path / "sample", inputs=specs)
    case = case_of(operator, [((2, 3), (4,)), None, ()], ["float32", "float16", "bfloat16"], [PLAIN] * 3)
    assert argument_specs(operator, case) == (
        ArgumentSpec("a", (TensorSpec("float32", (2, 3)), TensorSpec("float32", (4,))), tensor_list=True),
        ArgumentSpec("b", ()),
        ArgumentSpec("c", (TensorSpec("bfloat16", ()),)),
    )
    assert [tuple(tensor.shape) for tensor in make_inputs(operator, case, SEED, 0)] == [(2, 3), (4,), ()]


def test_memory_of_the_caller_is_filled_in_place(operator: Operator) -> None:
    case = case_of(operator, [(7, 3)])
    target = torch.zeros(7, 3)
    fill_inputs(operator, case, SEED, 3, [target])
    assert torch.equal(target, make_inputs(operator, case, SEED, 3)[0])


@pytest.mark.parametrize(
    "into", [[], [torch.zeros(3, 7)], [torch.zeros(7, 3, dtype=torch.float64)], [torch.zeros(3, 7).t()]]
)
def test_memory_that_does_not_fit_is_refused(operator: Operator, into: list[torch.Tensor]) -> None:
    with pytest.raises(ValueError, match="sample/public/1"):
        fill_inputs(operator, case_of(operator, [(7, 3)]), SEED, 0, into)


def test_decoys_differ_from_each_other_and_from_the_known(operator: Operator) -> None:
    case = case_of(operator, [(500,)])
    sets = [[torch.zeros(500)] for _ in range(4)]
    fill_decoys(operator, case, sets)
    known = make_inputs(operator, case, SEED, 0)[0]
    assert len({digest(tensors[0]) for tensors in [*sets, [known]]}) == 5
    assert all(tensors[0].abs().max() <= 1 for tensors in sets)


def test_a_constraint_rewrites_drawn_values_deterministically(tmp_path: Path) -> None:
    source = """
def golden(x, step):
    return x


def constrain(draws, x, step):
    x.copy_(x.sort().values)
    x[0] = float(draws.integers(0, 99, 1)) + step
"""
    operator = operator_of(tmp_path / "sample", source, attributes=(AttributeSpec("step", "int", 5),))
    case = case_of(operator, [(50,)], step=1000)
    first, again = (make_inputs(operator, case, SEED, 0)[0] for _ in range(2))
    assert torch.equal(first, again)
    assert torch.equal(first[1:], first[1:].sort().values)
    assert 1000 <= first[0] < 1100


EIGHT_BIT = ("float8_e4m3fn", "float8_e5m2")


@pytest.mark.parametrize("dtype", EIGHT_BIT)
@pytest.mark.parametrize("count", [7, 1 << 20])
def test_eight_bit_floats_are_drawn_like_others(operator: Operator, dtype: str, count: int) -> None:
    plain = drawn(operator, dtype, uniform(-1, 1), count).float()
    assert plain.isfinite().all()
    assert plain.abs().max() <= 1
    assert not drawn(operator, dtype, ValueRange(RangeKind.ZERO), count).float().any()
    boundary = drawn(operator, dtype, ValueRange(RangeKind.BOUNDARY), count).float()
    largest = torch.finfo(getattr(torch, dtype)).max
    assert (boundary[0], boundary[-1], boundary.isfinite().all()) == (-largest, largest, True)
    ends = drawn(operator, dtype, ValueRange(RangeKind.INF, -1, 1), count).float()
    assert (ends[0], ends[-1]) == ((-448, 448) if dtype == "float8_e4m3fn" else (-math.inf, math.inf))
    assert not ends.isnan().any()
    share = drawn(operator, dtype, ValueRange(RangeKind.NAN, -1, 1), count).float().isnan().double().mean()
    assert 0.48 < share < 0.52 or count < 100


@pytest.mark.parametrize("dtype", [*FLOATS, *EIGHT_BIT])
@pytest.mark.parametrize("count", [9, 1 << 20])
def test_the_second_trial_moves_every_float_of_a_stream_of_its_own(operator: Operator, dtype: str, count: int) -> None:
    case = case_of(operator, [(count,)], [dtype], [ValueRange(RangeKind.ZERO)])
    moved = make_inputs(operator, case, SEED, SECOND_TRIAL)[0]
    assert torch.equal(moved, torch.full((count,), 0.01).to(moved.dtype))
    case = case_of(operator, [(count,)], [dtype])
    first, second = (make_inputs(operator, case, SEED, trial)[0].double() for trial in (0, SECOND_TRIAL))
    assert not torch.equal(first, second)
    assert torch.equal(second, make_inputs(operator, case, SEED, SECOND_TRIAL)[0].double())
    if count > 100 and dtype not in EIGHT_BIT:
        assert second.mean().item() == pytest.approx(0.01, abs=0.005)


def test_the_second_trial_leaves_special_values_and_integers_in_their_range(operator: Operator) -> None:
    case = case_of(operator, [(100,)], ["float16"], [ValueRange(RangeKind.INF, -1, 1)])
    ends = make_inputs(operator, case, SEED, SECOND_TRIAL)[0]
    assert (ends[0], ends[-1]) == (-math.inf, math.inf)
    whole = case_of(operator, [(100,)], ["int32"], [ValueRange(RangeKind.UNIFORM, 3, 5)])
    assert set(make_inputs(operator, whole, SEED, SECOND_TRIAL)[0].tolist()) == {3, 4, 5}


def test_a_constraint_that_raises_is_our_fault(tmp_path: Path) -> None:
    source = "def golden(x):\n    return x\n\n\ndef constrain(draws, x):\n    raise RuntimeError('broken')\n"
    operator = operator_of(tmp_path / "sample", source)
    with pytest.raises(GoldenFault, match="constrain raised RuntimeError: broken"):
        make_inputs(operator, case_of(operator, [(5,)]), SEED, 0)


def test_defaults_complete_the_attributes(tmp_path: Path) -> None:
    attributes = (AttributeSpec("a", "int", 5), AttributeSpec("b", "float"), AttributeSpec("c", "str", "none"))
    operator = operator_of(tmp_path / "sample", attributes=attributes)
    assert call_attributes(operator, case_of(operator, [(1,)], b=2.5, c="tanh")) == {"a": 5, "b": 2.5, "c": "tanh"}


def test_a_range_that_float32_does_not_hold_is_refused(operator: Operator) -> None:
    case = case_of(operator, [(5,)], ["float64"], [ValueRange(RangeKind.BOUNDARY)])
    with pytest.raises(InternalError, match="does not hold them"):
        make_inputs(operator, case, SEED, 0)
