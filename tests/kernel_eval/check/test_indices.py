"""Outputs of indices: judged by what they find, ties free, nothing else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings

from kernel_eval.check import judge_outputs
from kernel_eval.check.called import Called
from kernel_eval.check.indices import Indexed, judge_computed
from kernel_eval.check.pointed import compare_indices
from kernel_eval.check.tolerances import DEFAULTS, EXACT
from kernel_eval.errors import GoldenFault, InternalError
from kernel_eval.model import AttributeSpec, Comparator, Comparison, IndexRule, InputSpec, OutputSpec, Reduction
from tests.factories.slow_rules import row_of_indices_accepts, same
from tests.factories.tasks import ALL_DTYPES, golden_of, operator_of

NAN = math.nan
DTYPES = [
    torch.float32, torch.float16, torch.bfloat16, torch.float8_e5m2, torch.int8, torch.uint16, torch.int64,
    torch.uint64, torch.bool,
]  # fmt: skip
RULE = IndexRule(into="x", axis=0, values="y", distinct=True)
MOE = """
def golden(x):
    return x


def probabilities(x):
    return x.softmax(-1)
"""


def call(table: torch.Tensor, folder: Path = Path("sample"), **attributes: int) -> Called:
    return Called(lambda: {"x": table}, attributes, folder)


@st.composite
def rows(draw: st.DrawFn) -> tuple[torch.dtype, list[float], list[int], list[int]]:
    """(dtype, table, golden indices, found indices) with many ties; the golden's may be sentinels."""
    dtype = draw(st.sampled_from(DTYPES))
    values = [0, 1] if dtype == torch.bool else [0, 1, 2, 3]
    if dtype.is_floating_point:
        values += [NAN, -0.0, math.inf]
    table = draw(st.lists(st.sampled_from(values), min_size=1, max_size=7))
    inside = st.integers(0, len(table) - 1)
    golden = draw(st.lists(st.one_of(inside, inside, inside, st.sampled_from([-1, len(table)])), max_size=8))
    found = [draw(st.one_of(st.just(right), inside, st.integers(-2, len(table) + 1))) for right in golden]
    return dtype, table, golden, found


@settings(max_examples=400, deadline=None)
@given(drawn=rows(), distinct=st.booleans(), up_to_position=st.booleans(), inner=st.sampled_from([1, 3]))
def test_verdicts_equal_those_of_python_lists(
    drawn: tuple[torch.dtype, list[float], list[int], list[int]], distinct: bool, up_to_position: bool, inner: int
) -> None:
    dtype, numbers, golden, found = drawn
    table = torch.tensor(numbers).to(dtype)
    numbers = table.float().tolist()
    wanted = [numbers[index] if 0 <= index < len(numbers) else 7.0 for index in golden]
    expected = row_of_indices_accepts(found, golden, numbers, wanted, distinct=distinct, up_to_position=up_to_position)
    rule = IndexRule(into="x", axis=1, values="y", distinct=distinct, up_to_position=up_to_position)

    def spread(row: Sequence[float], kind: torch.dtype) -> torch.Tensor:
        """The row in the middle column of a tensor whose other columns and slabs hold what is right."""
        return torch.tensor(row).to(kind).view(1, -1, 1).repeat(2, 1, inner)

    left, right = spread(golden, torch.int64), spread(golden, torch.int64)
    if distinct and len(set(golden)) < len(golden):
        left, right = left[:1, :, :1].contiguous(), right[:1, :, :1].contiguous()  # only the judged row
    left[-1, :, -1] = torch.tensor(found)
    if up_to_position and left.shape != (1, len(golden), 1):
        left, right = left[-1:, :, -1:].contiguous(), right[-1:, :, -1:].contiguous()
    shape = (left.shape[0], len(numbers), left.shape[2])
    tables = table.view(torch.uint8 if table.element_size() == 1 else dtype).view(1, -1, 1)
    tables = tables.expand(shape).contiguous().view(dtype)
    values = spread(wanted, dtype)[: left.shape[0], :, : left.shape[2]].contiguous()
    sound = row_of_indices_accepts(golden, golden, numbers, wanted, distinct=distinct, up_to_position=up_to_position)
    if not expected and not sound:
        with pytest.raises(GoldenFault):
            compare_indices(left, right, rule, call(tables), values, EXACT)
        return
    outcome = compare_indices(left, right, rule, call(tables), values, EXACT)
    assert outcome.passed == expected, outcome


TABLE = torch.tensor([5.0, 9.0, 9.0, NAN, 1.0, NAN])
ATTACKS = [
    # name, golden indices, found indices, rule that decides
    ("the golden's own", [3, 5, 1], [3, 5, 1], "index"),
    ("ties swapped", [3, 1, 2], [5, 2, 1], "index"),
    ("a duplicate where values tie", [3, 1, 2], [3, 1, 1], "index.distinct"),
    ("a duplicate of NaN", [3, 5, 1], [3, 3, 1], "index.distinct"),
    ("past the end", [3, 5, 1], [3, 6, 1], "index.range"),
    ("far past the end", [3, 5, 1], [3, 2**62, 1], "index.range"),
    ("negative, as Python counts", [3, 5, 1], [-3, -1, 1], "index.range"),
    ("the least number", [3, 5, 1], [-(2**63), 5, 1], "index.range"),
    ("NaN for a number", [1, 2, 0], [1, 3, 0], "index.value"),
    ("a number for NaN", [3, 5, 1], [3, 2, 1], "index.value"),
    ("the wrong order", [3, 1, 0], [3, 0, 1], "index.value"),
    ("all zero", [3, 5, 1], [0, 0, 0], "index.distinct"),
    ("a sentinel met", [3, 6, 1], [3, 6, 1], "index"),
    ("a sentinel missed", [3, 6, 1], [3, 5, 1], "index.sentinel"),
    ("another sentinel", [3, 6, 1], [3, 7, 1], "index.sentinel"),
    ("a sentinel where there is none", [3, 5, 1], [3, 6, 1], "index.range"),
    ("sentinels may repeat", [6, 6, 1], [6, 6, 2], "index"),
]


@pytest.mark.parametrize(("golden", "found", "rule"), [row[1:] for row in ATTACKS], ids=[row[0] for row in ATTACKS])
def test_an_attack_on_indices(golden: list[int], found: list[int], rule: str) -> None:
    values = torch.tensor([TABLE[index] if index < 6 else 0.0 for index in golden])
    dtypes = [torch.int64] if max(map(abs, found)) >= 2**31 else [torch.int64, torch.int32]
    for dtype in dtypes:
        left, right = torch.tensor(found, dtype=dtype), torch.tensor(golden, dtype=dtype)
        outcome = compare_indices(left, right, RULE, call(TABLE), values, EXACT)
        assert (outcome.rule, outcome.passed) == (rule, rule == "index"), outcome


def test_the_upper_half_of_uint64_is_no_place() -> None:
    golden, found = (torch.tensor([index], dtype=torch.uint64) for index in (1, 2**64 - 5))
    outcome = compare_indices(found, golden, RULE, call(TABLE), torch.tensor([9.0]), EXACT)
    assert outcome.rule == "index.range"


def test_an_index_of_cummin_lies_not_beyond_its_position() -> None:
    x = torch.tensor([3.0, 1.0, 2.0, 1.0])
    values, golden = x.cummin(0)
    rule = IndexRule(into="x", axis="dim", values="y", up_to_position=True)
    for found, expected in [
        ([0, 1, 1, 1], "index"),
        ([0, 1, 1, 3], "index"),
        ([0, 3, 1, 1], "index.position"),
        ([0, 1, 2, 3], "index.value"),
    ]:
        outcome = compare_indices(torch.tensor(found), golden, rule, call(x, dim=-1), values, EXACT)
        assert outcome.rule == expected, found


@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("dim", [0, 1, -1, -2])
def test_an_index_of_a_reduction_finds_the_extreme(dim: int, keepdim: bool) -> None:
    x = torch.randint(0, 4, (30, 40), generator=torch.Generator().manual_seed(1))
    golden = x.argmax(dim, keepdim=keepdim)
    rule = IndexRule(into="x", axis="dim", reduction=Reduction.MAX)
    last = x.flip(dim).argmax(dim, keepdim=keepdim).neg_().add_(x.shape[dim] - 1)
    assert not torch.equal(golden, last)
    accepted = compare_indices(last, golden, rule, call(x, dim=dim), None, EXACT)
    assert accepted.passed
    assert accepted.figures["other_than_golden"] == (golden != last).sum()
    last.view(-1)[3] = x.argmin(dim, keepdim=keepdim).view(-1)[3]
    refused = compare_indices(last, golden, rule, call(x, dim=dim), None, EXACT)
    assert (refused.rule, refused.worst) == ("index.value", 3)


@pytest.mark.parametrize("dtype", ["int64", "uint64", "uint16", "float8_e4m3fn", "float16"])
def test_extremes_are_found_in_every_dtype(dtype: str) -> None:
    kind = getattr(torch, dtype)
    low, high = (-448.0, 448.0) if kind.is_floating_point else (torch.iinfo(kind).min, torch.iinfo(kind).max)
    x = (
        torch.tensor([1, high, 2, low]).to(kind)
        if kind.is_floating_point
        else torch.tensor([1, high, 2, low], dtype=kind)
    )
    for reduction, right in ((Reduction.MAX, 1), (Reduction.MIN, 3)):
        rule = IndexRule(into="x", axis=None, reduction=reduction)
        found = [compare_indices(torch.tensor(at), torch.tensor(right), rule, call(x), None, EXACT) for at in range(4)]
        assert [outcome.passed for outcome in found] == [at == right for at in range(4)]


def test_nan_is_the_extreme_where_there_is_one() -> None:
    rule = IndexRule(into="x", axis=0, reduction=Reduction.MAX)
    found = [compare_indices(torch.tensor(at), torch.tensor(3), rule, call(TABLE), None, EXACT) for at in range(6)]
    assert [outcome.passed for outcome in found] == [False, False, False, True, False, True]


def test_a_zero_dimensional_table_and_empty_indices_are_judged() -> None:
    rule = IndexRule(into="x", axis=-1, reduction=Reduction.MAX)
    assert compare_indices(torch.tensor(0), torch.tensor(0), rule, call(torch.tensor(4.0)), None, EXACT).passed
    assert not compare_indices(torch.tensor(1), torch.tensor(0), rule, call(torch.tensor(4.0)), None, EXACT).passed
    empty = torch.empty(0, dtype=torch.int64)
    assert compare_indices(empty, empty, rule, call(torch.empty(0, 5)), None, EXACT).passed


def test_large_indices_are_judged_in_chunks_like_small_ones() -> None:
    x = torch.randint(0, 50, (7, 300, 100), generator=torch.Generator().manual_seed(2)).float()
    values, golden = x.topk(20, 1)
    order = torch.arange(20)
    rule = IndexRule(into="x", axis="dim", values="y", distinct=True)
    assert compare_indices(golden, golden, rule, call(x, dim=1), values, EXACT).passed
    wrong = golden.clone()
    wrong[6, 5, 99] = wrong[6, 4, 99]
    assert compare_indices(wrong, golden, rule, call(x, dim=1), values, EXACT).rule in ("index.distinct", "index.value")
    assert not compare_indices(golden[:, order.flip(0)], golden, rule, call(x, dim=1), values, EXACT).passed


def gating(tmp_path: Path, x: torch.Tensor, found: torch.Tensor, golden: torch.Tensor | None = None) -> Comparison:
    """Judge expert indices of a softmax over `x` whose values are right."""
    operator = operator_of(
        tmp_path / "sample",
        MOE,
        inputs=(InputSpec("x", ALL_DTYPES),),
        attributes=(AttributeSpec("k", "int", 2),),
        outputs=(
            OutputSpec("y", "same as x"),
            OutputSpec("idx", "int32", comparator=Comparator.INDEX,
                       rule=IndexRule(table="probabilities", axis=-1, values="y", distinct=True)),
        ),
    )  # fmt: skip
    values, indices = x.double().softmax(-1).topk(found.shape[-1], -1)
    y = values.to(x.dtype)
    right = golden_of(y, indices.to(torch.int32) if golden is None else golden)
    return judge_outputs(operator, right, [[y.clone()], [found]], never, call(x, operator.folder))


def never() -> list[list[torch.Tensor]]:
    raise AssertionError("the same-precision run must not be asked for here")


def test_experts_are_judged_by_their_probabilities(tmp_path: Path) -> None:
    x = torch.randn(64, 100, generator=torch.Generator().manual_seed(3)).half()
    right = x.float().softmax(-1).half().topk(8, -1).indices.to(torch.int32)
    result = gating(tmp_path, x, right)
    assert result.accepted, result
    assert result.threshold is not None
    wrong = right.clone()
    wrong[5, 0] = x[5].argmin()
    refused = gating(tmp_path, x, wrong)
    assert (refused.rule, refused.worst and refused.worst.index) == ("index.value", 40)
    assert gating(tmp_path, x, right.flip(-1)).rule == "index.value"
    wrong[5, 0] = wrong[5, 1]
    assert gating(tmp_path, x, wrong).rule == "index.distinct"
    assert gating(tmp_path, x, torch.full_like(right, -1)).rule == "index.range"


def test_equal_probabilities_leave_the_choice_free_but_not_the_number(tmp_path: Path) -> None:
    x = torch.zeros(4, 10)
    assert gating(tmp_path, x, torch.tensor([[7, 3]] * 4, dtype=torch.int32)).accepted
    assert gating(tmp_path, x, torch.tensor([[7, 7]] * 4, dtype=torch.int32)).rule == "index.distinct"


def test_finished_rows_keep_their_sentinel(tmp_path: Path) -> None:
    x = torch.zeros(2, 10)
    golden = torch.tensor([[0, 1], [10, 10]], dtype=torch.int32)
    assert gating(tmp_path, x, golden.clone(), golden).accepted
    found = torch.tensor([[0, 1], [2, 3]], dtype=torch.int32)
    assert gating(tmp_path, x, found, golden).rule == "index.sentinel"


def test_second_best_everywhere_is_refused_though_each_is_near(tmp_path: Path) -> None:
    x = torch.tensor([[0.0, 0.04, -0.04]] * 50).bfloat16()
    found = torch.tensor([[0]] * 50, dtype=torch.int32)
    result = gating(tmp_path, x, found)
    assert (result.accepted, result.rule, result.worst is not None) == (False, "index.mean", True)


def test_what_does_not_fit_together_is_our_fault(tmp_path: Path) -> None:
    one = torch.tensor([1])
    for table, golden, rule, values in [
        (torch.zeros(3, 4), one, IndexRule(into="x", axis=5, values="y"), torch.zeros(1)),
        (torch.zeros(3, 4), one, IndexRule(into="x", axis=0, values="y"), torch.zeros(1)),
        (torch.zeros(3), one, IndexRule(into="x", axis=0, values="y"), torch.zeros(1).half()),
        (torch.zeros(3), one, IndexRule(into="x", axis=0, values="y"), torch.zeros(2)),
        (torch.zeros(3), one, IndexRule(into="x", axis="dim", values="y"), torch.zeros(1)),
        (torch.zeros(3), one, IndexRule(table="probabilities", axis=0, values="y"), torch.zeros(1)),
    ]:
        with pytest.raises(GoldenFault):
            compare_indices(golden, golden, rule, call(table, tmp_path), values, EXACT)
    spec = OutputSpec("i", "int64", comparator=Comparator.INDEX, rule=RULE)
    operator = operator_of(tmp_path / "sample", outputs=(spec,))
    with pytest.raises(InternalError, match="names the values y"):
        judge_outputs(operator, golden_of(one), [[one]], never, call(TABLE))
    reduction = IndexRule(into="x", axis=0, reduction=Reduction.MAX)
    operator = operator_of(tmp_path / "sample", outputs=(OutputSpec("i", "int64", comparator=Comparator.INDEX,
                                                                     rule=reduction),))  # fmt: skip
    with pytest.raises(InternalError, match="needs what the operator was called with"):
        judge_outputs(operator, golden_of(one), [[one]], never)


def test_a_golden_that_breaks_its_own_rule_is_our_fault() -> None:
    table, values = torch.tensor([3.0, 1.0, 2.0]), torch.tensor([3.0, 2.0])
    golden, right = torch.tensor([0, 1]), torch.tensor([0, 2])
    with pytest.raises(GoldenFault, match=r"the golden's own indices break index\.value"):
        compare_indices(golden, golden, RULE, call(table), values, EXACT)
    assert compare_indices(right, golden, RULE, call(table), values, EXACT).passed
    with pytest.raises(GoldenFault, match=r"own indices break index\.distinct"):
        compare_indices(right, torch.tensor([0, 0]), RULE, call(table), torch.tensor([3.0, 3.0]), EXACT)


near = st.sampled_from([0.0, 1e-9, 1e-4, 3e-4, 4.8e-4, 5e-4, 0.01, 0.0101, 0.2, 0.2002, 0.5, NAN])


@settings(max_examples=300, deadline=None)
@given(table=st.lists(near, min_size=2, max_size=6), data=st.data())
def test_computed_values_follow_a_plain_loop(table: list[float], data: st.DataObject) -> None:
    inside = st.integers(0, len(table) - 1)
    golden = data.draw(st.lists(inside, min_size=1, max_size=6))
    found = [data.draw(st.one_of(st.just(right), inside)) for right in golden]
    half = [torch.tensor(value, dtype=torch.float64).half().item() for value in table]
    tolerance = DEFAULTS["float16"]
    errors, passed = [], True
    for index, right in zip(found, golden, strict=True):
        if same(half[index], half[right]):
            errors.append((0.0, half[right]))
            continue
        off = abs(half[index] - half[right])
        error = off / (abs(half[right]) + 1e-7)
        passed &= not (math.isnan(off) or (error >= tolerance.peak and off > tolerance.small_error))
        errors.append((error, half[right]))
    counted = [error for error, right in errors if not abs(right) < tolerance.small]
    expected = passed and (not counted or math.fsum(counted) / len(counted) < tolerance.mean)
    seen = Indexed(torch.tensor(found), torch.tensor(golden), torch.tensor(table, dtype=torch.float64), 1, 1)
    wanted = torch.tensor([half[right] for right in golden]).half()
    assert judge_computed(seen, wanted, tolerance).passed == expected
