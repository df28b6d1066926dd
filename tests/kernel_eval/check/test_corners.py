"""A table of hard corners, each with its verdict and the rule that decides."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from kernel_eval.check import judge_outputs
from kernel_eval.check.screen import PIECE, first_screen
from kernel_eval.check.tolerances import DEFAULTS
from kernel_eval.errors import InternalError
from kernel_eval.model import Verdict
from tests.factories.tasks import golden_of, operator_of, outputs_of

NAN, INF = math.nan, math.inf
F32, F16, BF16 = torch.float32, torch.float16, torch.bfloat16
E4M3, E5M2 = torch.float8_e4m3fn, torch.float8_e5m2
MAX32 = float(torch.finfo(F32).max)
ONES = [1.0] * 1000

CORNERS = [
    # name, dtype, golden, found, same-precision (None: must not be asked for), rule, accepted
    ("equal numbers", F32, [1.0, 2.0], [1.0, 2.0], None, "first_screen", True),
    ("a candidate of NaN alone", F32, [1.0, 2.0], [NAN, NAN], None, "special.nan", False),
    ("one NaN too many", F32, [1.0, 2.0], [1.0, NAN], None, "special.nan", False),
    ("one NaN too few", F32, [1.0, NAN], [1.0, 2.0], None, "special.nan", False),
    ("all NaN where the golden is", F32, [NAN, NAN], [NAN, NAN], None, "first_screen", True),
    ("NaN in the same places", F32, [NAN, 3.0], [NAN, 3.0], None, "first_screen", True),
    ("NaN in swapped places", F32, [NAN, 3.0], [3.0, NAN], None, "special.nan", False),
    ("same infinities", F32, [INF, -INF, 1.0], [INF, -INF, 1.0], None, "first_screen", True),
    ("an infinity of the wrong sign", F32, [INF, 1.0], [-INF, 1.0], None, "special.infinity", False),
    ("infinity for NaN", F32, [NAN], [INF], None, "special.nan", False),
    ("NaN for infinity", F32, [INF], [NAN], None, "special.nan", False),
    ("infinity found where the golden is the largest number", F32, [MAX32], [INF], None, "first_screen", True),
    ("largest number found where the golden is infinite", F32, [INF], [MAX32], None, "first_screen", True),
    ("infinity found where the golden is ordinary", F32, [1.0], [INF], None, "regions.normal", False),
    ("ordinary number found where the golden is infinite", F32, [INF], [1.0], None, "regions.normal", False),
    ("float16 overflow at the edge", F16, [65504.0], [INF], None, "first_screen", True),
    ("float16 overflow far from the edge", F16, [60000.0], [INF], None, "regions.normal", False),
    ("both at opposite ends of the range", F32, [MAX32], [-MAX32], None, "regions.normal", False),
    ("minus zero for zero", F32, [0.0], [-0.0], None, "first_screen", True),
    ("subnormal for zero", F32, [0.0], [1e-45], None, "first_screen", True),
    ("zero for a subnormal", F32, [1e-40, 1.0], [0.0, 1.0], None, "first_screen", True),
    ("one element just inside 10 τ", F32, [*ONES, 1.0], [*ONES, 1 + 0.00121], None, "first_screen", True),
    ("one element just outside 10 τ", F32, [*ONES, 1.0], [*ONES, 1 + 0.00123], None, "regions.normal", False),
    ("a uniform bias just below τ", F32, ONES, [1 + 0.000121] * 1000, None, "first_screen", True),
    ("a uniform bias just above τ", F32, ONES, [1 + 0.000123] * 1000, None, "regions.normal_mean", False),
    ("bfloat16 off by one unit in the last place", BF16, [1.0], [1 + 2**-7], None, "first_screen", True),
    ("bfloat16 off by two units everywhere", BF16, [1.0], [1 + 2**-6], None, "regions.normal_mean", False),
    ("bfloat16 where one of many is off by one unit", BF16, ONES, [1 + 2**-7, *ONES[1:]], None, "first_screen", True),
    ("float16 off by one unit in the last place", F16, ONES, [1 + 2**-10, *ONES[1:]], None, "first_screen", True),
    ("small values flushed to zero", F32, [5e-5] * 9 + ONES, [0.0] * 9 + ONES, [0.0] * 9 + ONES, "regions", True),
    ("small values flushed where the golden's run keeps them", F32, [5e-5] * 9 + ONES, [0.0] * 9 + ONES,
     [5e-5] * 9 + ONES, "regions.small", False),
    ("two small errors against none", F32, [5e-5] * 2 + [6e-5] * 8 + ONES, [4e-5] * 2 + [6e-5] * 8 + ONES, None,
     "regions", True),
    ("all zeros where everything is small", F32, [5e-5] * 9, [0.0] * 9, [4e-5] * 9, "regions.small_sum", False),
    ("all zeros where the golden's run is zero too", F32, [5e-5] * 9, [0.0] * 9, [0.0] * 9, "regions", True),
    ("a large value where the golden is small", F32, [1e-5, *ONES], [2e-4, *ONES], None, "regions.small_size", False),
    ("a large value where the golden is zero", F32, [0.0, *ONES], [0.5, *ONES], None, "regions.small_size", False),
    ("noise of ε_sv around zero", F32, [0.0] * 50, [2**-31] * 50, None, "regions", True),
    ("cancellation no worse than the golden's run", F32, [1e-3] * 9 + ONES, [1.1e-3] * 9 + ONES,
     [1.1e-3] * 5 + [1e-3] * 4 + ONES, "regions", True),
    ("cancellation worse than twice the golden's run", F32, [1e-3] * 9 + ONES, [1.1e-3] * 9 + ONES,
     [1.1e-3] * 4 + [1e-3] * 5 + ONES, "regions.cancellation", False),
    ("a non-finite golden's run excuses nothing", F32, [5e-5] * 9 + ONES, [0.0] * 9 + ONES, [NAN] * 9 + ONES,
     "regions.small", False),
    ("opposite signs of small size", F32, [6e-5] * 9 + ONES, [-6e-5] * 9 + ONES, [6e-5] * 9 + ONES,
     "regions.small", False),
    ("float16 zeros for a small golden", F16, [2e-4] * 50, [0.0] * 50, [2e-4] * 50, "regions.small", False),
    ("a single wrong value", F32, [3.0], [2.0], None, "regions.normal", False),
    ("two cancelled errors beside a normal element", F32, [3e-3, 3e-3, 1.0], [-3e-3, 0.0, 1.0], None, "regions", True),
    ("a single cancelled number of the wrong sign", F32, [3e-3], [-3e-3], [3e-3], "regions.cancellation_sum", False),
    ("zeros where everything cancels", F32, [3e-3, 2e-3], [0.0, 0.0], [3e-3, 2e-3], "regions.cancellation_sum", False),
    ("zeros where the golden's run cancels to zero too", F32, [3e-3], [0.0], [0.0], "regions", True),
    ("one of many cancelled numbers left out", F32, [3e-3] * 9, [0.0] + [3e-3] * 8, None, "regions", True),
    ("three cancelled errors against none", F32, [3e-3] * 3, [-3e-3] * 3, [3e-3] * 3, "regions.cancellation", False),
    ("an empty tensor", F32, [], [], None, "first_screen", True),
    ("eight-bit numbers as they are", E4M3, [1.0, -448.0, 0.0], [1.0, -448.0, -0.0], None, "first_screen", True),
    ("eight-bit NaN in the same place", E4M3, [NAN, 1.0], [NAN, 1.0], None, "first_screen", True),
    ("eight-bit NaN for a number", E4M3, [2.0, 1.0], [NAN, 1.0], None, "special.nan", False),
    ("eight-bit number for NaN", E4M3, [NAN, 1.0], [448.0, 1.0], None, "special.nan", False),
    ("eight-bit one unit off in one of many", E4M3, ONES, [1.125, *ONES[1:]], None, "first_screen", True),
    ("eight-bit two units off everywhere", E4M3, ONES, [1.25] * 1000, None, "regions.normal_mean", False),
    ("eight-bit zero in one of many", E4M3, ONES, [0.0, *ONES[1:]], None, "regions.normal", False),
    ("eight-bit wrong sign in one of many", E5M2, ONES, [-1.0, *ONES[1:]], None, "regions.normal", False),
    ("eight-bit smallest number flushed", E4M3, [2**-9, *ONES], [0.0, *ONES], None, "regions", True),
    ("eight-bit double in one of many", E5M2, ONES, [2.0, *ONES[1:]], None, "first_screen", True),
    ("eight-bit twice and more", E4M3, [8.0, *ONES], [32.0, *ONES], None, "regions.normal", False),
    ("eight-bit infinities of both signs", E5M2, [INF, -INF, 1.0], [INF, -INF, 1.0], None, "first_screen", True),
    ("eight-bit infinity of the wrong sign", E5M2, [INF, 1.0], [-INF, 1.0], None, "special.infinity", False),
    ("eight-bit infinity for the largest number", E5M2, [57344.0], [INF], None, "first_screen", True),
    ("eight-bit infinity for an ordinary number", E5M2, [1.0], [INF], None, "regions.normal", False),
    ("eight-bit zeros where all is small", E5M2, [0.03125] * 50, [0.0] * 50, [0.03125] * 50, "regions.small_sum",
     False),
]  # fmt: skip


def test_there_are_at_least_forty_corners_each_with_a_name_of_its_own() -> None:
    names = [row[0] for row in (*CORNERS, *INTEGERS)]
    assert (len(CORNERS), len(INTEGERS)) == (66, 15)
    assert len(set(names)) == len(names) == len(CORNERS) + len(INTEGERS)


@pytest.mark.parametrize(
    ("dtype", "golden", "found", "peer", "rule", "accepted"),
    [row[1:] for row in CORNERS],
    ids=[row[0] for row in CORNERS],
)
def test_corner(
    tmp_path: Path,
    dtype: torch.dtype,
    golden: list[float],
    found: list[float],
    peer: list[float] | None,
    rule: str,
    accepted: bool,
) -> None:
    def same_precision() -> list[list[torch.Tensor]]:
        assert peer is not None, "the same-precision run must not be asked for here"
        return [[torch.tensor(peer, dtype=dtype)]]

    operator = operator_of(tmp_path / "sample", outputs=outputs_of(1))
    result = judge_outputs(
        operator, golden_of(torch.tensor(golden, dtype=dtype)), [[torch.tensor(found, dtype=dtype)]], same_precision
    )
    assert (result.rule, result.accepted) == (rule, accepted), result.message


INTEGERS = [
    ("int64 extremes", torch.int64, [2**63 - 1, -(2**63)], [2**63 - 1, -(2**63)], True),
    ("int64 extremes swapped", torch.int64, [2**63 - 1, -(2**63)], [-(2**63), 2**63 - 1], False),
    ("int64 off by one at the extreme", torch.int64, [2**63 - 1], [2**63 - 2], False),
    ("int64 beyond what a double holds", torch.int64, [2**53], [2**53 + 1], False),
    ("uint64 above the int64 range", torch.uint64, [2**64 - 1], [2**64 - 1], True),
    ("uint64 off by one", torch.uint64, [2**64 - 1], [2**64 - 2], False),
    ("uint32", torch.uint32, [2**32 - 1], [2**32 - 1], True),
    ("uint16 off by one", torch.uint16, [65535], [0], False),
    ("int8 extremes", torch.int8, [-128, 127], [-128, 127], True),
    ("int8 wrap-around", torch.int8, [-128], [127], False),
    ("uint8 off by one", torch.uint8, [255], [254], False),
    ("int16", torch.int16, [-(2**15)], [-(2**15)], True),
    ("int32 off by one", torch.int32, [2**31 - 1], [2**31 - 2], False),
    ("bool", torch.bool, [True, False], [True, False], True),
    ("bool flipped", torch.bool, [True, False], [True, True], False),
]


def never() -> list[list[torch.Tensor]]:
    raise AssertionError("the same-precision run must not be asked for here")


@pytest.mark.parametrize(
    ("dtype", "golden", "found", "accepted"), [row[1:] for row in INTEGERS], ids=[row[0] for row in INTEGERS]
)
def test_integers_and_bool_are_compared_exactly(
    tmp_path: Path, dtype: torch.dtype, golden: list[int], found: list[int], accepted: bool
) -> None:
    operator = operator_of(tmp_path / "sample", outputs=outputs_of(1))
    result = judge_outputs(
        operator, golden_of(torch.tensor(golden, dtype=dtype)), [[torch.tensor(found, dtype=dtype)]], never
    )
    assert result.accepted == accepted
    assert result.rule == ("boolean" if dtype == torch.bool else "integers")


def test_a_bool_byte_other_than_0_and_1_is_wrong(tmp_path: Path) -> None:
    found = torch.tensor([2, 0], dtype=torch.uint8).view(torch.bool)
    operator = operator_of(tmp_path / "sample", outputs=outputs_of(1))
    assert not judge_outputs(operator, golden_of(torch.tensor([True, False])), [[found]], never).accepted


def test_a_wrong_integer_is_named_with_both_values(tmp_path: Path) -> None:
    operator = operator_of(tmp_path / "sample", outputs=outputs_of(1))
    golden = torch.arange(400_000)
    found = golden.clone()
    found[300_001] = 5
    result = judge_outputs(operator, golden_of(golden), [[found]], never)
    assert result.worst is not None
    assert (result.worst.index, result.worst.golden, result.worst.found) == (300_001, 300_001.0, 5.0)


def test_a_threshold_of_zero_compares_values_exactly(tmp_path: Path) -> None:
    operator = operator_of(tmp_path / "sample", outputs=outputs_of(1), thresholds={"float32": 0.0})
    golden = torch.tensor([0.0, NAN, 1.0])
    assert judge_outputs(operator, golden_of(golden), [[torch.tensor([-0.0, NAN, 1.0])]], never).accepted
    refused = judge_outputs(operator, golden_of(golden), [[torch.tensor([0.0, NAN, 1.0000001])]], never)
    assert (refused.rule, refused.verdict) == ("exact", Verdict.WRONG_VALUES)


@pytest.mark.parametrize("threshold", [0.0, 2**-13])
def test_the_sign_of_zero_counts_only_where_it_is_declared(tmp_path: Path, threshold: float) -> None:
    strict = replace(outputs_of(1)[0], signed_zero=True)
    golden = golden_of(torch.tensor([0.0, -0.0, 1.0]))
    for found, accepted in (([0.0, -0.0, 1.0], True), ([0.0, 0.0, 1.0], False), ([-0.0, -0.0, 1.0], False)):
        operators = [
            operator_of(tmp_path / name, outputs=specs, thresholds={"float32": threshold})
            for name, specs in (("free", outputs_of(1)), ("strict", (strict,)))
        ]
        free, signed = (judge_outputs(operator, golden, [[torch.tensor(found)]], never) for operator in operators)
        assert (free.accepted, signed.accepted) == (True, accepted)
        assert accepted or (signed.rule, signed.worst is not None) == ("signed_zero", True)


def test_a_compute_format_has_its_own_bounds_in_the_dtype_that_carries_it(tmp_path: Path) -> None:
    spec = replace(outputs_of(1)[0], computed_as="hifloat32")
    golden, found = golden_of(torch.ones(100)), torch.full((100,), 1 + 2.0**-12)
    carried = judge_outputs(operator_of(tmp_path / "a", outputs=(spec,)), golden, [[found]], never)
    assert (carried.accepted, carried.threshold, carried.relaxed) == (True, 2**-11, False)
    assert not judge_outputs(operator_of(tmp_path / "b", outputs=outputs_of(1)), golden, [[found]], never).accepted
    half = golden_of(torch.ones(100).half())
    found = torch.full((100,), 1 + 2.0**-9).half()
    assert judge_outputs(operator_of(tmp_path / "c", outputs=(spec,)), half, [[found]], never).threshold == 2**-10


def test_a_relaxed_threshold_is_applied_and_reported(tmp_path: Path) -> None:
    operator = operator_of(tmp_path / "sample", outputs=outputs_of(1), thresholds={"float32": 0.005})
    golden, found = torch.ones(10), torch.full((10,), 1.004)
    result = judge_outputs(operator, golden_of(golden), [[found]], never)
    assert (result.accepted, result.threshold, result.relaxed) == (True, 0.005, True)
    strict = operator_of(tmp_path / "strict", outputs=outputs_of(1))
    assert not judge_outputs(strict, golden_of(golden), [[found]], never).accepted


def test_a_declared_absolute_error_counts_as_none_only_where_the_golden_is_small(tmp_path: Path) -> None:
    operator = operator_of(tmp_path / "sample", outputs=outputs_of(1), absolute_errors={"float32": 2**-20})
    golden = torch.tensor([2e-5] * 9 + [2e-4] * 9 + ONES)
    result = judge_outputs(operator, golden_of(golden), [[golden + 9e-7 * (golden < 1)]], never)
    assert (result.accepted, result.relaxed) == (True, True)
    golden = torch.tensor([2e-5] * 9 + ONES)
    beyond = judge_outputs(operator, golden_of(golden), [[golden + 1e-6 * (golden < 1)]], lambda: [[golden]])
    assert not beyond.accepted


def test_relief_excuses_what_the_same_precision_run_cannot_do_better(tmp_path: Path) -> None:
    golden = torch.tensor([0.01, *([100.0] * 999)])
    found = golden + torch.tensor([1e-4, *([0.0] * 999)])
    peer = golden + torch.tensor([0.0, 1e-5, *([0.0] * 998)])
    relieved = operator_of(tmp_path / "relieved", outputs=outputs_of(1), relief=True)
    strict = operator_of(tmp_path / "strict", outputs=outputs_of(1))
    assert judge_outputs(relieved, golden_of(golden), [[found]], lambda: [[peer]]).accepted
    assert not judge_outputs(strict, golden_of(golden), [[found]], lambda: [[peer]]).accepted
    assert not judge_outputs(relieved, golden_of(golden), [[found + 2e-4 * (golden < 1)]], lambda: [[peer]]).accepted


def test_the_first_failing_output_decides_and_is_named(tmp_path: Path) -> None:
    operator = operator_of(tmp_path / "sample", outputs=outputs_of(2, lists=True))
    right, wrong = torch.ones(5), torch.full((5,), 2.0)
    golden = golden_of([right, right], [right])
    result = judge_outputs(operator, golden, [[right, wrong], [wrong]], never)
    assert result.worst is not None
    assert (result.worst.output, result.worst.tensor) == (0, 1)
    assert result.message.startswith("y0[1] (float32):")


def test_an_ignored_output_still_needs_its_structure(tmp_path: Path) -> None:
    operator = operator_of(tmp_path / "sample", outputs=outputs_of(1, compared=False))
    golden = golden_of(torch.ones(4))
    assert judge_outputs(operator, golden, [[torch.zeros(4)]], never).accepted
    refused = judge_outputs(operator, golden, [[torch.zeros(5)]], never)
    assert (refused.verdict, refused.rule) == (Verdict.WRONG_STRUCTURE, "structure.shape")


def test_the_same_precision_run_is_made_once_for_all_outputs(tmp_path: Path) -> None:
    calls = []
    golden, found = torch.tensor([5e-5] * 9 + ONES), torch.tensor([0.0] * 9 + ONES)

    def same_precision() -> list[list[torch.Tensor]]:
        calls.append(1)
        return [[found], [found]]

    operator = operator_of(tmp_path / "sample", outputs=outputs_of(2))
    assert judge_outputs(operator, golden_of(golden, golden), [[found], [found]], same_precision).accepted
    assert len(calls) == 1


def test_a_dtype_without_tolerance_is_our_fault(tmp_path: Path) -> None:
    operator = operator_of(tmp_path / "sample", outputs=outputs_of(1))
    tensor = torch.ones(3, dtype=torch.float64)
    with pytest.raises(InternalError, match="float64"):
        judge_outputs(operator, golden_of(tensor), [[tensor]], never)


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2], ids=str)
def test_eight_bit_floats_have_their_own_tolerance(tmp_path: Path, dtype: torch.dtype) -> None:
    operator = operator_of(tmp_path / "sample", outputs=outputs_of(1))
    golden = torch.tensor([1.0, 2.0, 4.0, 8.0]).to(dtype)
    assert judge_outputs(operator, golden_of(golden), [[golden.clone()]], never).accepted
    wrong = torch.tensor([1.0, 2.0, 4.0, 32.0]).to(dtype)
    assert not judge_outputs(operator, golden_of(golden), [[wrong]], never).accepted


def test_a_signalling_nan_is_a_nan_like_any_other(tmp_path: Path) -> None:
    operator = operator_of(tmp_path / "sample", outputs=outputs_of(1))
    signalling = torch.tensor([0x7F800001, 0x3F800000], dtype=torch.int32).view(F32)
    golden, found = torch.tensor([NAN, 1.0]), signalling.clone()
    assert judge_outputs(operator, golden_of(golden), [[found]], never).accepted
    found[1] = 2.0
    assert judge_outputs(operator, golden_of(golden), [[found]], never).rule == "regions.normal"
    assert judge_outputs(operator, golden_of(torch.ones(2)), [[signalling]], never).rule == "special.nan"


def test_zero_dimensional_tensors_are_judged(tmp_path: Path) -> None:
    operator = operator_of(tmp_path / "sample", outputs=outputs_of(1, lists=True))
    golden = golden_of([torch.tensor(3.0), torch.tensor(4.0)])
    assert judge_outputs(operator, golden, [[torch.tensor(3.0), torch.tensor(4.0)]], never).accepted
    assert not judge_outputs(operator, golden, [[torch.tensor(3.0), torch.tensor(4.1)]], never).accepted


def test_one_sided_infinities_in_a_large_tensor_are_measured_by_themselves() -> None:
    """Pieces without one pass in float32; the figures name the worst element all the same."""
    golden = torch.full((PIECE + 1000,), 2.0)
    golden[[5, PIECE + 7]] = torch.finfo(torch.float32).max
    golden[9], golden[11] = math.inf, math.nan
    found = golden.clone()
    found[[5, PIECE + 7]] = math.inf
    outcome = first_screen(found, golden, DEFAULTS["float32"])
    assert outcome is not None
    assert outcome.passed
    assert outcome.largest < 1e-6
    found[20] = 2.0005
    outcome = first_screen(found, golden, DEFAULTS["float32"])
    assert outcome is not None
    assert outcome.worst == 20
    for at, wrong in ((9, -math.inf), (11, 1.0), (30, math.inf)):
        broken = found.clone()
        broken[at] = wrong
        assert first_screen(broken, golden, DEFAULTS["float32"]) is None
