"""Tensors in files, judged like the outputs of one call."""

from __future__ import annotations

import pytest
import torch

from kernel_eval.check.pairs import compare_pairs
from kernel_eval.errors import UsageError

GOLDEN = torch.linspace(1, 2, 1000, dtype=torch.float64)


def judged(golden: torch.Tensor, output: torch.Tensor, declared: str | None = None, threshold: float | None = None):
    return compare_pairs({"y": golden}, {"y": output}, None, declared, threshold)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn])
def test_a_golden_in_fp64_is_rounded_to_the_outputs_dtype(dtype: torch.dtype) -> None:
    assert judged(GOLDEN, GOLDEN.to(dtype)).accepted
    assert not judged(GOLDEN, (GOLDEN * 1.6).to(dtype)).accepted


def test_structure_comes_before_values() -> None:
    half = GOLDEN.half()
    assert judged(GOLDEN, half, "float32").rule == "structure.dtype"
    assert judged(GOLDEN.float(), half).rule == "structure.dtype"
    assert judged(half, half.reshape(10, 100)).rule == "structure.shape"
    other = compare_pairs({"y": half, "z": half}, {"y": half, "w": half}, None)
    assert (other.rule, other.message) == ("structure.outputs", "missing: z; not in the golden: w")


def test_hifloat32_is_carried_in_float32_with_bounds_of_its_own() -> None:
    off = (GOLDEN * (1 + 2.0**-12)).float()
    assert judged(GOLDEN, off, "hifloat32").accepted
    assert not judged(GOLDEN, off, "float32").accepted
    assert judged(GOLDEN, off, "hifloat32").threshold == 2.0**-11


def test_a_threshold_replaces_the_dtypes_own() -> None:
    off = (GOLDEN * 1.001).float()
    assert not judged(GOLDEN, off).accepted
    relaxed = judged(GOLDEN, off, threshold=0.01)
    assert relaxed.accepted
    assert (relaxed.threshold, relaxed.relaxed) == (0.01, True)
    assert not judged(GOLDEN, off, threshold=0.0).accepted


def test_without_a_same_precision_run_the_golden_stands_in_and_with_one_its_errors_are_granted() -> None:
    golden = torch.full((1000,), 3e-6, dtype=torch.float32)
    golden[:900] = 1.0
    found, peer = golden.clone(), golden.clone()
    found[900:910] += 1e-6
    peer[900:910] += 1e-6
    assert not compare_pairs({"y": golden}, {"y": found}, None).accepted
    assert compare_pairs({"y": golden}, {"y": found}, {"y": peer}).accepted
    with pytest.raises(UsageError, match="names and shapes"):
        compare_pairs({"y": golden}, {"y": found}, {"x": peer})


def test_integers_are_exact_and_nan_never_passes_by_accident() -> None:
    whole = torch.tensor([2**63 - 1, -(2**63)])
    assert judged(whole, whole.clone()).accepted
    assert not judged(whole, torch.tensor([2**63 - 1, -(2**63) + 1])).accepted
    nan = torch.tensor([1.0, float("nan")])
    assert judged(nan, nan.clone()).accepted
    assert not judged(nan, torch.tensor([float("nan"), float("nan")])).accepted
    assert not judged(torch.tensor([1.0, 1.0]), nan).accepted


@pytest.mark.parametrize("declared", ["float64", "float4", "complex64", "Tensor", ""])
def test_a_dtype_without_rules_is_a_matter_of_usage(declared: str) -> None:
    with pytest.raises(UsageError, match="there are no rules for this dtype"):
        judged(torch.zeros(2, dtype=torch.float64), torch.zeros(2, dtype=torch.float64), declared)


def test_a_golden_of_another_dtype_than_declared_is_a_matter_of_usage() -> None:
    with pytest.raises(UsageError, match="can't be float16"):
        judged(torch.zeros(2), torch.zeros(2).half(), "float16")


def test_a_threshold_of_integers_is_the_largest_difference_of_few_elements() -> None:
    whole = torch.arange(100, dtype=torch.int8)
    one, many = whole.clone(), whole + 1
    one[3] += 1
    assert not judged(whole, one).accepted
    assert judged(whole, one, threshold=1.0).accepted
    assert judged(whole, one, threshold=0.99).rule == "integers"
    assert judged(whole, many, threshold=1.0).rule == "integers.mismatches"
    assert compare_pairs({"y": whole}, {"y": many}, {"y": many}, threshold=1.0).accepted
