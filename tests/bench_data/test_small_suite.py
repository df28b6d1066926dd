"""The checked-in small suite: what the generator makes, covering what it must, judging what it should."""
# ruff: noqa: A006 - an operator names its input `input`

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
import torch

from kernel_eval.cases.constraints import named_inputs
from kernel_eval.cases.inputs import call_attributes, make_inputs, tensor_specs
from kernel_eval.cases.operator_source import operator_function
from kernel_eval.check import judge_outputs
from kernel_eval.golden.call import Golden, reference, same_precision
from kernel_eval.golden.native import NativeRunner
from kernel_eval.model import Case, Operator, Split, Suite, element_count
from kernel_eval.suite import default_bench_data, load_suite
from kernel_eval.suite.hidden import generate_hidden, overlay_hidden
from kernel_eval.suite.public import public_tables
from kernel_eval.suite.table import format_table
from kernel_eval.suite.validate import validate_suite

NAME = "cann-bench-small"
SUITE = load_suite(default_bench_data(), NAME)
OPERATORS = [operator.name for operator in SUITE.operators]
HEADINGS = 8
Kernel = Callable[..., Any]


def by_name(name: str) -> tuple[Operator, tuple[Case, ...]]:
    return SUITE.operator(name), SUITE.cases_of(name)


@lru_cache(maxsize=20)
def public_answer(key: str) -> tuple[list[torch.Tensor], Golden]:
    case = next(case for case in SUITE.cases if case.key == key)
    return answered(SUITE.operator(case.operator), case)


def answered(operator: Operator, case: Case, suite: Suite = SUITE) -> tuple[list[torch.Tensor], Golden]:
    inputs = make_inputs(operator, case, suite.seeds[case.split], 0)
    return inputs, reference(operator, case, inputs)


def arranged(operator: Operator, output: Any) -> list[list[torch.Tensor]]:
    entries = list(output) if operator.outputs[0].tensor_list else [output]
    return [[entry.contiguous() for entry in entries]]


def test_there_are_eight_operators_of_twenty_public_cases() -> None:
    assert OPERATORS == [
        "exp", "foreach_addcdiv_scalar", "foreach_norm", "gelu", "masked_scale", "mish", "sigmoid", "swi_glu",
    ]  # fmt: skip
    assert [len(SUITE.cases_of(name)) for name in OPERATORS] == [20] * 8


def test_the_checked_in_tables_are_what_the_generator_makes() -> None:
    for path, cases in public_tables(default_bench_data(), NAME).items():
        assert path.read_text(encoding="utf-8") == format_table(cases), f"{path} is out of date"


def test_the_public_set_covers_what_it_must() -> None:
    validate_suite(SUITE)


@pytest.mark.parametrize("language", ["desc.md", "desc.zh.md"])
@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_is_described_with_its_schema(name: str, language: str) -> None:
    operator, _ = by_name(name)
    text = (operator.folder / language).read_text(encoding="utf-8")
    assert operator.schema in text
    assert text.count("\n## ") == HEADINGS - 1
    for spec in (*operator.inputs, *operator.outputs):
        assert f"| {spec.name} |" in text


@pytest.mark.parametrize("name", OPERATORS)
def test_cases_stay_small_and_goldens_quick(name: str) -> None:
    operator, cases = by_name(name)
    for case in cases:
        assert 3_000 <= element_count(case) <= 600_000
        assert sum(spec.size_bytes for spec in tensor_specs(operator, case)) * 8 <= 256 << 20
    largest = max(cases, key=element_count)
    inputs, _ = answered(operator, largest)
    assert min(seconds(lambda: reference(operator, largest, inputs)) for _ in range(5)) <= 0.15


def seconds(work: Callable[[], object]) -> float:
    started = time.thread_time()
    work()
    return time.thread_time() - started


@pytest.fixture(scope="module")
def native() -> Any:
    with NativeRunner() as runner:
        yield runner


@pytest.mark.parametrize("name", OPERATORS)
def test_the_baseline_is_right_on_every_public_case(name: str, native: NativeRunner) -> None:
    operator, cases = by_name(name)
    baseline = operator_function(operator.folder, "baseline")
    assert baseline is not None
    for case in cases:
        inputs, golden = public_answer(case.key)
        output = baseline(**named_inputs(operator, case, inputs), **call_attributes(operator, case))
        peer = lambda case=case, inputs=inputs: native.run(operator, case, inputs)  # noqa: E731
        result = judge_outputs(operator, golden, arranged(operator, output), peer)
        assert result.accepted, f"{case.key}: {result.message}"


def judged(operator: Operator, cases: Sequence[Case], kernel: Kernel, suite: Suite = SUITE) -> Iterator[bool]:
    """Whether each case is accepted, one after the other."""
    for case in cases:
        inputs, golden = public_answer(case.key) if case.split is Split.PUBLIC else answered(operator, case, suite)
        wide = [tensor.float() if tensor.dtype.is_floating_point else tensor for tensor in inputs]
        outputs = arranged(operator, kernel(**named_inputs(operator, case, wide), **call_attributes(operator, case)))
        dtypes = [[wanted.dtype for wanted in result.tensors] for result in golden.results]
        cast = [
            [tensor.to(getattr(torch, dtype)) for tensor, dtype in zip(tensors, names, strict=True)]
            for tensors, names in zip(outputs, dtypes, strict=True)
        ]
        peer = lambda case=case, inputs=inputs: same_precision(operator, case, inputs)  # noqa: E731
        yield judge_outputs(operator, golden, cast, peer).accepted


@pytest.mark.slow
@pytest.mark.parametrize("name", OPERATORS)
def test_a_float32_kernel_is_right_on_fresh_hidden_cases(name: str, tmp_path: Path) -> None:
    generate_hidden(SUITE, b"secret of this test" * 2, tmp_path / "hidden", "test")
    suite = overlay_hidden(SUITE, tmp_path / "hidden")
    operator = suite.operator(name)
    kernel = operator_function(operator.folder, "golden")
    assert kernel is not None
    cases = [case for case in suite.cases_of(name) if case.split is Split.HIDDEN]
    assert len(cases) == 80
    assert all(judged(operator, cases, kernel, suite))


def silu(x: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.silu(x)


def halves(x: torch.Tensor, dim: int) -> tuple[torch.Tensor, torch.Tensor]:
    first, second = x.chunk(2, dim)
    return first, second


def norm(x: list[torch.Tensor], p: float) -> list[torch.Tensor]:
    return [torch.linalg.vector_norm(entry, p) for entry in x]


WRONG: dict[str, dict[str, Kernel]] = {
    "exp": {
        "ignores the base": lambda x, base, scale, shift: torch.exp(scale * x + shift),
        "ignores the shift": lambda x, base, scale, shift: torch.exp(scale * x * (math.log(base) if base > 0 else 1)),
        "shifts before scaling": lambda x, base, scale, shift: torch.exp(
            scale * (x + shift) * (math.log(base) if base > 0 else 1)
        ),
        "takes a base of two for e": lambda x, base, scale, shift: torch.exp2(scale * x + shift),
        "is a constant": lambda x, base, scale, shift: torch.ones_like(x),
    },
    "foreach_addcdiv_scalar": {
        "ignores the scalar": lambda x1, x2, x3, scalar: [a + b / c for a, b, c in zip(x1, x2, x3, strict=True)],
        "multiplies": lambda x1, x2, x3, scalar: [a + scalar * b * c for a, b, c in zip(x1, x2, x3, strict=True)],
        "swaps the fraction": lambda x1, x2, x3, scalar: [
            a + scalar * c / b for a, b, c in zip(x1, x2, x3, strict=True)
        ],
        "leaves the last tensor alone": lambda x1, x2, x3, scalar: [
            *(a + scalar * b / c for a, b, c in zip(x1[:-1], x2[:-1], x3[:-1], strict=True)), x1[-1],
        ],
        "leaves out the last elements": lambda x1, x2, x3, scalar: [
            torch.where(torch.arange(a.numel()).view(a.shape) < a.numel() * 0.99, a + scalar * b / c, a)
            for a, b, c in zip(x1, x2, x3, strict=True)
        ],
    },
    "foreach_norm": {
        "always takes the Euclidean norm": lambda x, scalar: norm(x, 2.0),
        "forgets the root": lambda x, scalar: [
            entry.abs().pow(scalar).sum() if 0 < scalar < math.inf else torch.linalg.vector_norm(entry, scalar)
            for entry in x
        ],
        "averages": lambda x, scalar: [value / entry.numel() for value, entry in zip(norm(x, scalar), x, strict=True)],
        "leaves out the last element": lambda x, scalar: norm([entry.reshape(-1)[:-1] * 0.99 for entry in x], scalar),
    },
    "gelu": {
        "always takes the exact form": lambda x, approximate: torch.nn.functional.gelu(x),
        "always takes the tanh form": lambda x, approximate: torch.nn.functional.gelu(x, approximate="tanh"),
        "is silu": lambda x, approximate: silu(x),
        "approximates by a logistic function": lambda x, approximate: x * torch.sigmoid(1.702 * x),
        "returns the limit at minus infinity": lambda x, approximate: torch.where(
            x == -math.inf, -0.0, torch.nn.functional.gelu(x, approximate=approximate)
        ),
        "is relu": lambda x, approximate: torch.relu(x),
    },
    "masked_scale": {
        "takes the mask as booleans": lambda x, mask, scale: x * (mask != 0) * scale,
        "ignores the scale": lambda x, mask, scale: x * mask,
        "ignores the mask": lambda x, mask, scale: x * scale,
        "selects instead of multiplying": lambda x, mask, scale: torch.where(mask != 0, x * mask * scale, 0.0),
    },
    "mish": {
        "takes softplus without care": lambda x: x * torch.tanh(torch.log(1 + torch.exp(x))),
        "is silu": silu,
        "forgets the factor": lambda x: torch.tanh(torch.nn.functional.softplus(x)),
        "cuts softplus off early": lambda x: x * torch.tanh(torch.nn.functional.softplus(x, threshold=1)),
    },
    "sigmoid": {
        "forgets the sign": lambda x: 1 / (1 + torch.exp(x)),
        "takes tanh": lambda x: torch.tanh(x),
        "is hard": lambda x: torch.nn.functional.hardsigmoid(x),
        "rounds to bfloat16": lambda x: torch.sigmoid(x).bfloat16().float(),
    },
    "swi_glu": {
        "activates the second half": lambda input, dim: halves(input, dim)[0] * silu(halves(input, dim)[1]),
        "always splits the last axis where it can": lambda input, dim: (
            silu(halves(input, dim if input.shape[-1] % 2 else -1)[0])
            * halves(input, dim if input.shape[-1] % 2 else -1)[1]
        ).reshape(halves(input, dim)[0].shape),
        "gates by sigmoid": lambda input, dim: torch.sigmoid(halves(input, dim)[0]) * halves(input, dim)[1],
        "takes alternate elements": lambda input, dim: (
            silu(input.index_select(dim, torch.arange(0, input.shape[dim], 2)))
            * input.index_select(dim, torch.arange(1, input.shape[dim], 2))
        ),
    },
}  # fmt: skip


@pytest.mark.parametrize(("name", "wrong"), [(name, wrong) for name in OPERATORS for wrong in WRONG[name]])
def test_a_wrong_variant_is_refused_by_the_public_cases(name: str, wrong: str) -> None:
    operator, cases = by_name(name)
    assert not all(judged(operator, cases, WRONG[name][wrong])), f"{name} that {wrong} passed every public case"


@pytest.mark.parametrize("name", OPERATORS)
def test_lazy_answers_pass_hardly_any_public_case(name: str) -> None:
    operator, cases = by_name(name)
    first = operator.inputs[0].name

    def shaped(make: Callable[[torch.Tensor], torch.Tensor]) -> Kernel:
        def kernel(**arguments: Any) -> Any:
            golden = operator_function(operator.folder, "golden")
            assert golden is not None
            right = golden(**arguments)
            return [make(entry) for entry in right] if isinstance(right, list) else make(right)

        return kernel

    lazy: list[Kernel] = [shaped(torch.zeros_like), shaped(torch.ones_like)]
    if name not in ("foreach_norm", "swi_glu"):
        lazy.append(lambda **arguments: arguments[first])
    for kernel in lazy:
        assert sum(judged(operator, cases, kernel)) <= 2
