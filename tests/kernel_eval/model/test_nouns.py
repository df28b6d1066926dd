"""The judge's nouns: pure, frozen, with one order of verdicts."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest
import torch

from kernel_eval.model import (
    ITEM_BYTES,
    PRECEDENCE,
    Level,
    Split,
    TensorSpec,
    Verdict,
    element_count,
    strongest,
    tensor_shapes,
)
from kernel_eval.suite import default_bench_data, load_suite


def test_the_nouns_need_neither_torch_nor_numpy_nor_yaml() -> None:
    program = "import sys, kernel_eval.model; assert not {'torch', 'numpy', 'yaml'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True, cwd=Path(__file__).parents[3])


def test_every_verdict_has_one_place_in_the_precedence() -> None:
    assert sorted(PRECEDENCE) == sorted(Verdict)
    assert strongest([]) is Verdict.ACCEPTED
    assert strongest([Verdict.WRONG_VALUES, Verdict.CRASHED, Verdict.ACCEPTED]) is Verdict.CRASHED
    assert strongest(Verdict) is Verdict.INTERNAL_ERROR


@pytest.mark.parametrize("dtype", sorted(ITEM_BYTES))
def test_item_sizes_are_pytorchs(dtype: str) -> None:
    assert torch.empty(0, dtype=getattr(torch, dtype)).element_size() == ITEM_BYTES[dtype]


def test_tensor_sizes() -> None:
    assert (TensorSpec("float16", ()).elements, TensorSpec("float16", ()).size_bytes) == (1, 2)
    assert TensorSpec("int64", (3, 0, 5)).size_bytes == 0
    assert tensor_shapes(None) == ()
    assert tensor_shapes(()) == ((),)
    assert tensor_shapes((2, 3)) == ((2, 3),)
    assert tensor_shapes(((2, 3), (4,))) == ((2, 3), (4,))


def test_a_suite_is_filtered_and_keeps_its_digest() -> None:
    suite = load_suite(default_bench_data(), "cann-bench-small")
    part = suite.select(operators=frozenset({"exp", "mish"}), case_ids=frozenset({1, 2}))
    assert [case.key for case in part.cases] == ["exp/public/1", "exp/public/2", "mish/public/1", "mish/public/2"]
    assert part.digest == suite.digest
    assert not suite.select(levels=frozenset({Level.L4})).operators
    assert not suite.select(splits=frozenset({Split.HIDDEN})).cases
    assert element_count(part.cases[0]) > 0
    with pytest.raises(KeyError):
        suite.operator("none")
    with pytest.raises(FrozenInstanceError):
        suite.name = "other"  # type: ignore[misc]
