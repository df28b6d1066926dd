"""Goldens are called in FP64, checked against their declaration, and rounded once."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from kernel_eval.cases.inputs import make_inputs
from kernel_eval.check.chunks import CHUNK
from kernel_eval.errors import GoldenFault
from kernel_eval.golden.call import reference, result_specs, same_precision
from kernel_eval.model import InputSpec, Operator, OutputSpec, ResultSpec, TensorSpec
from kernel_eval.suite import default_bench_data, load_suite
from tests.factories.tasks import FLOATS, PLAIN, case_of, operator_of


def test_floats_are_raised_to_fp64_and_the_result_is_cast_to_the_declared_dtype(tmp_path: Path) -> None:
    source = "def golden(x):\n    assert str(x.dtype) == 'torch.float64'\n    return x / 3\n"
    operator = operator_of(tmp_path / "sample", source)
    x = torch.tensor([1.0, 2.0], dtype=torch.float16)
    golden = reference(operator, case_of(operator, [(2,)], ["float16"]), [x])
    assert golden.tensors[0][0].dtype == torch.float16
    assert golden.tensors[0][0].tolist() == [0.333251953125, 0.66650390625]
    assert golden.results == (ResultSpec("y", (TensorSpec("float16", (2,)),)),)


def test_integers_stay_what_they_are(tmp_path: Path) -> None:
    operator = operator_of(tmp_path / "sample", "def golden(x):\n    return x + 1\n")
    golden = reference(operator, case_of(operator, [(1,)], ["int64"]), [torch.tensor([2**60])])
    assert golden.tensors[0][0].tolist() == [2**60 + 1]


def test_overflow_by_the_cast_is_legal_but_undeclared_infinity_is_not(tmp_path: Path) -> None:
    outputs = (OutputSpec("y", "same as x", shape="same as x", non_finite=False),)
    case_shape = [(1,)]
    large = operator_of(tmp_path / "large", "def golden(x):\n    return x + 1e9\n", outputs=outputs)
    found = reference(large, case_of(large, case_shape, ["float16"]), [torch.zeros(1, dtype=torch.float16)])
    assert found.tensors[0][0].item() == math.inf
    infinite = operator_of(tmp_path / "infinite", "def golden(x):\n    return x / 0\n", outputs=outputs)
    with pytest.raises(GoldenFault, match="undeclared NaN or Inf"):
        reference(infinite, case_of(infinite, case_shape), [torch.ones(1)])


BROKEN = [
    ("def golden(x):\n    raise ValueError('no')\n", "raised ValueError: no"),
    ("def golden(y):\n    return y\n", "raised TypeError"),
    ("def golden(x):\n    return x.float()\n", "must be torch.float64"),
    ("def golden(x):\n    return x[:1]\n", "declared is"),
    ("def golden(x):\n    return (x, x)\n", "must return 1 outputs"),
    ("def golden(x):\n    return None\n", "must hold 1 tensors"),
    ("def other(x):\n    return x\n", "no function golden"),
    ("def golden(x:\n", "cannot be executed"),
    ("import nothing_of_this_name\n", "cannot be executed"),
]


@pytest.mark.parametrize(("source", "message"), BROKEN)
def test_a_broken_golden_is_our_fault_with_its_reason(tmp_path: Path, source: str, message: str) -> None:
    operator = operator_of(tmp_path / "sample", source)
    with pytest.raises(GoldenFault, match=message):
        reference(operator, case_of(operator, [(3,)]), [torch.ones(3)])


def test_a_missing_golden_is_named(tmp_path: Path) -> None:
    operator = operator_of(tmp_path / "sample")
    (operator.folder / "golden.py").unlink()
    with pytest.raises(GoldenFault, match=r"sample/golden\.py cannot be read"):
        reference(operator, case_of(operator, [(3,)]), [torch.ones(3)])


def test_lists_and_scalars_have_their_declared_shapes(tmp_path: Path) -> None:
    inputs = (InputSpec("x", FLOATS, tensor_list=True),)
    outputs = (
        OutputSpec("s", "same as x", shape="scalar", tensor_list=True),
        OutputSpec("m", "float32", shape="scalar"),
    )
    source = "def golden(x):\n    return [t.sum() for t in x], x[0].amax()\n"
    operator = operator_of(tmp_path / "sample", source, inputs=inputs, outputs=outputs)
    case = case_of(operator, [((2, 3), (4,))])
    golden = reference(operator, case, make_inputs(operator, case, b"seed", 0))
    assert [len(tensors) for tensors in golden.tensors] == [2, 1]
    assert golden.results == result_specs(operator, case)
    assert [tensor.shape for tensor in golden.results[0].tensors] == [(), ()]


def test_shapes_may_come_from_the_goldens_file(tmp_path: Path) -> None:
    outputs = (OutputSpec("y", "same as x", shape="golden"),)
    source = "def golden(x):\n    return x[::2]\n\n\ndef result_shapes(x):\n    return [((x[0] + 1) // 2,)]\n"
    operator = operator_of(tmp_path / "sample", source, outputs=outputs)
    assert reference(operator, case_of(operator, [(5,)]), [torch.ones(5)]).results[0].tensors[0].shape == (3,)
    without = operator_of(tmp_path / "without", "def golden(x):\n    return x\n", outputs=outputs)
    with pytest.raises(GoldenFault, match="no result_shapes"):
        result_specs(without, case_of(without, [(5,)]))


def test_the_same_precision_run_sees_native_dtypes(tmp_path: Path) -> None:
    operator = operator_of(tmp_path / "sample", "def golden(x):\n    return x * x\n")
    x = torch.tensor([300.0], dtype=torch.float16)
    assert same_precision(operator, case_of(operator, [(1,)], ["float16"], [PLAIN]), [x])[0][0].item() == math.inf


OWN = load_suite(default_bench_data(), "cann-bench-small")
ELEMENTWISE = [operator for operator in OWN.operators if operator.elementwise]


@pytest.mark.parametrize("operator", ELEMENTWISE, ids=lambda operator: operator.name)
def test_a_declared_elementwise_golden_gives_the_same_bits_by_pieces(operator: Operator) -> None:
    """Large ones are computed so; a golden that looks beyond its own place would differ."""
    for case in OWN.cases_of(operator.name)[:6]:
        shape = (3, CHUNK // 2 + 77)
        large = replace(case, shapes=tuple(shape for _ in case.shapes))
        inputs = make_inputs(operator, large, b"seed", 0)
        (whole,) = reference(replace(operator, elementwise=False), large, inputs).tensors[0]
        (pieces,) = reference(operator, large, inputs).tensors[0]
        assert torch.equal(whole.view(torch.uint8), pieces.view(torch.uint8))
        assert pieces.shape == shape


def test_a_fault_in_a_piece_is_told_like_any_other(tmp_path: Path) -> None:
    operator = replace(operator_of(tmp_path / "sample", "def golden(x):\n    return x[1:]\n"), elementwise=True)
    with pytest.raises(GoldenFault, match="the golden's y is"):
        reference(operator, case_of(operator, [(2 * CHUNK,)]), [torch.zeros(2 * CHUNK)])


@pytest.mark.parametrize("elementwise", [True, False])
def test_a_golden_that_works_in_place_leaves_the_inputs_alone(tmp_path: Path, elementwise: bool) -> None:
    operator = operator_of(tmp_path / "sample", "def golden(x):\n    return x.mul_(2)\n")
    operator = replace(operator, elementwise=elementwise)
    for dtype in ("float64", "float32", "int32"):
        ones = torch.ones(2 * CHUNK, dtype=getattr(torch, dtype))
        golden = reference(operator, case_of(operator, [(2 * CHUNK,)], [dtype]), [ones])
        assert (golden.tensors[0][0] == 2).all()
        assert (ones == 1).all()
