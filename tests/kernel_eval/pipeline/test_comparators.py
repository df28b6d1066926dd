"""Every comparator on its whole way: declared in `proto.yaml`, played in a box, judged by the golden."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kernel_eval.cases.inputs import fill_inputs
from kernel_eval.check import called_with, compare_claims, judge_outputs
from kernel_eval.evaluation.calls import call_of
from kernel_eval.golden.call import reference, result_specs, same_precision
from kernel_eval.model import Comparison, RangeKind, ValueRange
from kernel_eval.runner.box import RunBox
from kernel_eval.runner.play import PlayStatus
from kernel_eval.runner.pool import Pool
from kernel_eval.settings import Settings
from kernel_eval.suite import load_suite
from tests.factories.tasks import case_of, write_suite

pytestmark = pytest.mark.sandbox

HEAD = """\
operator: double
title: Sample
function: double
level: L1
category: Sample
schema: double({names})
inputs:
{inputs}
attributes: [{{name: dim, type: int, default: -1}}]
outputs:
{outputs}
cases:
  ranks: [1, 2]
  dtypes: [{dtypes}]
  attributes: {{dim: {{choose: [-1]}}}}
"""


def proto(inputs: dict[str, str], outputs: tuple[str, ...], more: str = "") -> str:
    return more + HEAD.format(
        names=", ".join([*inputs, "dim"]),
        inputs="\n".join(f"  - {{name: {name}, dtypes: [{dtype}]}}" for name, dtype in inputs.items()),
        outputs="\n".join(f"  - {{{output}}}" for output in outputs),
        dtypes="[" + ", ".join(inputs.values()) + "]" if len(inputs) > 1 else next(iter(inputs.values())),
    )


SAME = "name: y, dtype: same as x, shape: same as x"
SHAPES = "\n\ndef result_shapes(x, dim):\n    return [(*x[:-1], 4)] * 2\n"
SAMPLES: dict[str, tuple[str, str, list[tuple[int, ...]], list[str]]] = {
    # operator: proto, golden, shapes, dtypes
    "top_k": (
        proto({"x": "float16"}, ("name: y, dtype: same as x, shape: golden",
              "name: i, dtype: int64, shape: golden, index: {into: x, axis: dim, values: y, distinct: true}")),
        "def golden(x, dim):\n    return tuple(x.topk(4, dim))\n" + SHAPES,
        [(50, 30)],
        ["float16"],
    ),
    "cummin": (
        proto({"x": "float16"}, (SAME,
              "name: i, dtype: int64, shape: same as x, index: {into: x, axis: dim, values: y, up_to_position: true}")),
        "def golden(x, dim):\n    return tuple(x.cummin(dim))\n",
        [(50, 30)],
        ["float16"],
    ),
    "shuffled": (
        proto({"x": "uint32"}, (f"{SAME}, set: {{axis: dim}}",)),
        "def golden(x, dim):\n    return x\n",
        [(20, 30)],
        ["uint32"],
    ),
    "cache": (
        proto({"x": "float32", "new": "float32"}, (f"{SAME}, stateful: {{of: x, touched: touched}}",),
              "in_place: true\n"),
        "import torch\n\n\ndef golden(x, new, dim):\n    x = x.clone()\n    x[7] = new.exp()\n    return x\n\n\n"
        "def touched(x, new, dim):\n    return (torch.arange(x.shape[0]) == 7)[:, None]\n",
        [(40, 30), (30,)],
        ["float32", "float32"],
    ),
    "quantised": (
        proto({"x": "float32"}, ("name: y, dtype: int8, shape: same as x, integer_tolerance: 1",)),
        "import torch\n\n\ndef golden(x, dim):\n    return (x * 100).round().to(torch.int8)\n",
        [(100, 40)],
        ["float32"],
    ),
    "eight_bit": (
        proto({"x": "float8_e4m3fn"}, (SAME,)),
        "def golden(x, dim):\n    return x * 3\n",
        [(100, 41)],
        ["float8_e4m3fn"],
    ),
    "carried": (
        proto({"x": "float32"}, (f"{SAME}, computed_as: hifloat32",)),
        "def golden(x, dim):\n    return x.exp()\n",
        [(100, 41)],
        ["float32"],
    ),
}  # fmt: skip
PACKAGE = """
import torch


def top_k(x, dim):
    found = x.sort(dim, descending=True)
    return found.values[:, :4].contiguous(), found.indices[:, :4].contiguous()


def top_k_repeated(x, dim):
    y, i = x.topk(4, dim)
    i[3, 1] = i[3, 0]
    return y, i


def top_k_unsorted(x, dim):
    y, i = x.topk(4, dim)
    return y, i.flip(1)


def cummin(x, dim):
    y, i = x.cummin(dim)
    return y, i


def cummin_beyond(x, dim):
    y, i = x.cummin(dim)
    i[0, 0] = 29
    return y, i


def shuffled(x, dim):
    return x.view(torch.int32).flip(1).view(torch.uint32)


def shuffled_rows(x, dim):
    return x.view(torch.int32).flip(0).view(torch.uint32)


def cache(x, new, dim):
    x[7] = new.exp()
    return x


def cache_elsewhere(x, new, dim):
    x = x.clone()
    x[7] = new.exp()
    return x


def cache_too_much(x, new, dim):
    x[7] = new.exp()
    x[39, 29] *= 1.0000002
    return x


def cache_rounded(x, new, dim):
    return cache(x, new, dim).half().float()


def quantised(x, dim):
    return (x * 100).round().to(torch.int8)


def quantised_floor(x, dim):
    return (x * 100).floor().to(torch.int8)


def eight_bit(x, dim):
    return (x.float() * 3).to(x.dtype)


def eight_bit_wide(x, dim):
    return x.float() * 3


def eight_bit_other(x, dim):
    return (x.float() * 5).to(x.dtype)


def carried(x, dim):
    return x.exp() * (1 + 2.0**-12)


def carried_less(x, dim):
    return x.exp() * (1 + 2.0**-10.9)
"""
VERDICTS = [
    ("top_k", "top_k", "", True),
    ("top_k", "top_k_repeated", "index.distinct", False),
    ("top_k", "top_k_unsorted", "index.value", False),
    ("cummin", "cummin", "", True),
    ("cummin", "cummin_beyond", "index.position", False),
    ("shuffled", "shuffled", "set.integers", True),
    ("shuffled", "shuffled_rows", "set.integers", False),
    ("cache", "cache", "stateful.first_screen", True),
    ("cache", "cache_elsewhere", "stateful.first_screen", True),
    ("cache", "cache_too_much", "stateful.untouched", False),
    ("cache", "cache_rounded", "stateful.untouched", False),
    ("quantised", "quantised", "", True),
    ("quantised", "quantised_floor", "integers.mismatches", False),
    ("eight_bit", "eight_bit", "first_screen", True),
    ("eight_bit", "eight_bit_wide", "structure.dtype", False),
    ("eight_bit", "eight_bit_other", "regions.normal_mean", False),
    ("carried", "carried", "first_screen", True),
    ("carried", "carried_less", "regions.normal_mean", False),
]


Compare = Callable[[str, str], Comparison]


@pytest.fixture(scope="module")
def compare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Compare]:
    """Play a function of the package as an operator, and judge it."""
    folder = tmp_path_factory.mktemp("comparators")
    package = folder / "package" / "cann_bench"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(PACKAGE)
    settings, pool = Settings(folder / "work", folder / "cache", threads=1), Pool(1 << 22)
    with RunBox(package.parent, settings, memory_bytes=700 << 20) as box:
        yield lambda name, function: played(box, pool, folder, name, function)
    pool.close()


def played(box: RunBox, pool: Pool, folder: Path, name: str, function: str) -> Comparison:
    declaration, golden_source, shapes, dtypes = SAMPLES[name]
    root = folder / "suites" / name
    if not root.exists():
        kinds = ", ".join(f'""{dtype}""' for dtype in dtypes)
        sizes = str([list(shape) for shape in shapes])
        ranges = "|".join(["uniform -1 1"] * len(shapes))
        table = f'case_id,shapes,dtypes,attributes,values,note\n1,"{sizes}","[{kinds}]",{{}},{ranges},\n'
        write_suite(root, proto=declaration, golden=golden_source, table=table)
    operator = load_suite(root, "tiny").operator("double")
    values = ValueRange(RangeKind.UNIFORM, 0, 1 << 20) if name == "shuffled" else ValueRange(RangeKind.UNIFORM, -1, 1)
    case = case_of(operator, shapes, dtypes, [values] * len(shapes), dim=-1)
    call = replace(call_of(operator, case, result_specs(operator, case)), function=function)
    pool.lay_out(call, 1)
    fill_inputs(operator, case, b"comparators", 0, pool.inputs(0))
    golden = reference(operator, case, pool.inputs(0))
    play = box.play(call, pool, 0, 30.0)
    assert play.status in (PlayStatus.OK, PlayStatus.WRONG_STRUCTURE), play
    refused = compare_claims(play.claims, golden.results)
    if refused is not None:
        return refused
    native = same_precision(operator, case, pool.inputs(0))
    call_made = called_with(operator, case, lambda: pool.inputs(0))
    return judge_outputs(operator, golden, pool.outputs(0), lambda: native, call_made)


@pytest.mark.parametrize(("name", "function", "rule", "accepted"), VERDICTS, ids=[row[1] for row in VERDICTS])
def test_an_output_is_judged_as_declared(compare: Compare, name: str, function: str, rule: str, accepted: bool) -> None:
    found = compare(name, function)
    assert found.accepted == accepted, found
    assert not rule or found.rule == rule, found
    if not accepted and not found.rule.startswith("structure"):
        assert found.worst is not None
        assert found.threshold is not None
        assert found.message


def test_every_sample_is_judged_right_and_wrong() -> None:
    assert {name for name, _, _, accepted in VERDICTS if accepted} == set(SAMPLES)
    assert {name for name, _, _, accepted in VERDICTS if not accepted} == set(SAMPLES)
