"""Decoys look like known inputs, differ from one another, and never come twice."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch

from kernel_eval.cases.decoys import DecoySource
from kernel_eval.cases.inputs import make_inputs
from kernel_eval.model import (
    AttributeSpec,
    Case,
    InputSpec,
    Level,
    Operator,
    OutputSpec,
    RangeKind,
    Split,
    ValueRange,
)

ELEMENTS, DECOYS = 5_000, 40


@pytest.fixture(scope="module")
def source() -> DecoySource:
    return DecoySource(elements=ELEMENTS * DECOYS * 2)


def operator_of(folder: Path, dtype: str) -> Operator:
    (folder / "golden.py").write_text("def golden(x):\n    return x\n")
    return Operator(
        name="same",
        title="Same",
        function="same",
        level=Level.L1,
        category="Elementwise",
        schema="same(Tensor x) -> Tensor y",
        inputs=(InputSpec("x", (dtype,)),),
        attributes=(AttributeSpec("unused", "int", 0),),
        outputs=(OutputSpec("y", "same as x", shape="same as x"),),
        folder=folder,
    )


def case_of(dtype: str, values: ValueRange) -> Case:
    return Case("same", 1, Split.PUBLIC, ((ELEMENTS,),), (dtype,), {}, (values,))


def filled(source: DecoySource, folder: Path, dtype: str, values: ValueRange) -> torch.Tensor:
    column = torch.zeros((DECOYS, ELEMENTS), dtype=getattr(torch, dtype))
    source.fill(operator_of(folder, dtype), case_of(dtype, values), [column])
    return column


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float64", "int32", "int8", "uint8", "int64"])
@pytest.mark.parametrize(
    "values",
    [
        ValueRange(RangeKind.UNIFORM, -3.0, 3.0),
        ValueRange(RangeKind.UNIFORM, 2.0, 90.0),
        ValueRange(RangeKind.UNIFORM, -0.5, 0.25),
    ],
)
def test_decoys_have_the_distribution_of_the_known_inputs(
    source: DecoySource, tmp_path: Path, dtype: str, values: ValueRange
) -> None:
    if dtype == "uint8" and values.low < 0:
        values = ValueRange(RangeKind.UNIFORM, 0.0, values.high)
    decoys = filled(source, tmp_path, dtype, values).double()
    (known,) = make_inputs(operator_of(tmp_path, dtype), case_of(dtype, values), b"seed", 0)
    known = known.double()
    assert decoys.min() >= known.min() - 0.01 * (values.high - values.low)
    assert decoys.max() <= known.max() + 0.01 * (values.high - values.low)
    assert decoys.mean().item() == pytest.approx(known.mean().item(), abs=0.03 * (values.high - values.low) + 1e-9)
    assert decoys.std().item() == pytest.approx(known.std().item(), rel=0.05, abs=1e-9)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_no_two_decoys_are_alike_and_no_filling_is_repeated(source: DecoySource, tmp_path: Path, dtype: str) -> None:
    first = filled(source, tmp_path, dtype, ValueRange(RangeKind.UNIFORM, -1.0, 1.0))
    again = filled(source, tmp_path, dtype, ValueRange(RangeKind.UNIFORM, -1.0, 1.0))
    rows = [row.view(torch.uint8).numpy().tobytes() for row in torch.cat((first, again))]
    assert len(set(rows)) == 2 * DECOYS


def test_infinities_lie_where_known_inputs_have_them(source: DecoySource, tmp_path: Path) -> None:
    values = ValueRange(RangeKind.INF, -1.0, 1.0)
    decoys = filled(source, tmp_path, "float32", values)
    (known,) = make_inputs(operator_of(tmp_path, "float32"), case_of("float32", values), b"seed", 0)
    assert torch.equal(decoys.isinf(), known.isinf().expand(DECOYS, ELEMENTS))
    assert torch.equal(decoys.sign()[:, 0], torch.full((DECOYS,), -1.0))


def test_about_half_is_nan_in_both_and_in_other_places_each_time(source: DecoySource, tmp_path: Path) -> None:
    decoys = filled(source, tmp_path, "bfloat16", ValueRange(RangeKind.NAN, -1.0, 1.0))
    share = decoys.isnan().float().mean(dim=1)
    assert share.min() > 0.45
    assert share.max() < 0.55
    assert not torch.equal(decoys[0].isnan(), decoys[1].isnan())


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_a_boundary_reaches_the_largest_values_and_stays_finite(
    source: DecoySource, tmp_path: Path, dtype: str
) -> None:
    decoys = filled(source, tmp_path, dtype, ValueRange(RangeKind.BOUNDARY))
    largest = torch.finfo(getattr(torch, dtype)).max
    assert (decoys[:, 0] == -largest).all()
    assert (decoys[:, -1] == largest).all()
    assert decoys.isfinite().all()


def test_zero_stays_zero_and_empty_columns_are_left_alone(source: DecoySource, tmp_path: Path) -> None:
    assert not filled(source, tmp_path, "float32", ValueRange(RangeKind.ZERO)).any()
    operator = operator_of(tmp_path, "float32")
    case = Case("same", 1, Split.PUBLIC, ((0,),), ("float32",), {}, (ValueRange(RangeKind.UNIFORM, 0, 1),))
    source.fill(operator, case, [torch.empty((DECOYS, 0))])


def test_wide_integers_use_all_their_bits(source: DecoySource, tmp_path: Path) -> None:
    decoys = filled(source, tmp_path, "int64", ValueRange(RangeKind.BOUNDARY))
    assert decoys.min() < -(1 << 62)
    assert decoys.max() > 1 << 62
    assert 0.45 < (decoys & 1).float().mean().item() < 0.55


def test_structured_inputs_are_constrained_in_every_decoy(source: DecoySource, tmp_path: Path) -> None:
    operator = operator_of(tmp_path, "float32")
    (tmp_path / "golden.py").write_text(
        "def golden(x):\n    return x\n\n\ndef constrain(draws, x, **rest):\n    x.copy_(x.sort().values)\n"
    )
    column = torch.zeros((DECOYS, ELEMENTS))
    source.fill(operator, case_of("float32", ValueRange(RangeKind.UNIFORM, -1.0, 1.0)), [column])
    assert (column.diff(dim=1) >= 0).all()
    assert not torch.equal(column[0], column[1])


def test_a_pool_larger_than_the_reservoir_is_drawn_afresh(tmp_path: Path) -> None:
    small = DecoySource(elements=100)
    decoys = filled(small, tmp_path, "float32", ValueRange(RangeKind.UNIFORM, 0.0, 1.0))
    assert len(decoys.unique()) > 0.95 * decoys.numel()


def test_no_number_comes_twice_within_a_pool(source: DecoySource, tmp_path: Path) -> None:
    decoys = filled(source, tmp_path, "float64", ValueRange(RangeKind.UNIFORM, 0.0, 1.0))
    assert len(decoys.unique()) > 0.98 * decoys.numel(), "24 random bits repeat by chance alone"


def test_nan_is_the_only_non_finite_value_of_a_nan_range(source: DecoySource, tmp_path: Path) -> None:
    decoys = filled(source, tmp_path, "float32", ValueRange(RangeKind.NAN, -2.0, 2.0))
    assert decoys.nan_to_num(nan=0.0).abs().max().item() <= 2.0
    assert not math.isinf(decoys.nan_to_num(nan=0.0).abs().max().item())


def test_given_rows_alone_are_filled_and_still_meet_no_number_twice(source: DecoySource, tmp_path: Path) -> None:
    column, values = torch.zeros((DECOYS, ELEMENTS)), ValueRange(RangeKind.UNIFORM, -1.0, 1.0)
    rows = [0, 1, 2, 7, 9, 10, DECOYS - 1]
    source.fill(operator_of(tmp_path, "float32"), case_of("float32", values), [column], rows)
    assert [row for row in range(DECOYS) if column[row].any()] == rows
    drawn = column[rows].flatten()
    assert drawn.unique().numel() > 0.95 * drawn.numel()
    assert all(not torch.equal(column[a], column[b]) for a in rows for b in rows if a < b)


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e5m2"])
def test_eight_bit_decoys_follow_their_range(source: DecoySource, tmp_path: Path, dtype: str) -> None:
    plain = filled(source, tmp_path, dtype, ValueRange(RangeKind.UNIFORM, -1, 1)).float()
    assert (plain.isfinite().all(), plain.abs().max() <= 1) == (True, True)
    share = filled(source, tmp_path, dtype, ValueRange(RangeKind.NAN, -1, 1)).float().isnan().double().mean()
    assert 0.45 < share < 0.55
    ends = filled(source, tmp_path, dtype, ValueRange(RangeKind.INF, -1, 1)).float()
    assert (ends[:, 0] == (-448 if dtype == "float8_e4m3fn" else -math.inf)).all()
