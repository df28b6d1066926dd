"""Small foreign task sets, written for tests in the published formats."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

SCALE_PROTO = """\
operator:
  name: Scale
  category: Elementwise
  description: y = factor * x
  schema: "scale(Tensor x, float factor=2.0, int[]? dims=None) -> Tensor y"
  inputs:
    - {name: x, dtype: [float16, float32], description: what is scaled}
  outputs:
    - {name: y, dtype: [float16, float32]}
  attrs:
    - {name: factor, type: float, default: 2.0}
  precision_thresholds: {float32: 0.001}
"""
SCALE_CASES = """\
cases:
  - {operator: Scale, case_id: 1, input_shape: [[3, 5]], dtype: float32, attrs: {factor: 1.5}, value_range: [-1, 1]}
  - {operator: Scale, case_id: 2, input_shape: [[7]], dtype: float16, attrs: {factor: 'inf'}, value_range: [[0, 2]]}
  - {operator: Scale, case_id: 3, input_shape: [[2, 2]], dtype: [float32], attrs: {}, value_range: ['nan', 'nan']}
"""
SCALE_GOLDEN = """\
import torch


def scale(x: torch.Tensor, factor: float = 2.0, dims=None) -> torch.Tensor:
    return x * factor
"""
PICK_PROTO = """\
operator:
  name: PickRows
  category: Indexing
  schema: "pick_rows(Tensor x, Tensor index, Tensor? bias=None, bool largest=false) -> (Tensor y, Tensor where)"
  inputs:
    - {name: x, dtype: [float32, float16]}
    - {name: index, dtype: [int64]}
    - {name: bias, dtype: [float32, float16]}
  outputs:
    - {name: y, dtype: [float32, float16]}
    - {name: where, dtype: [int64], compare: false}
"""
PICK_CASES = """\
case_id,operator,input_shape,dtype,attrs,value_range,note
1,PickRows,"[[6, 4], [3], null]","['float32', 'int64', None]","{'largest': True}","[[-1, 1], [0, 5], null]",no bias
2,PickRows,"[[5, 2], [4], [2]]","[float16, int64, float16]","{largest: false}","[[-1, 1], [0, 4], [0, 1]]",
"""
PICK_GOLDEN = """\
import torch


def get_input(x, index, bias, largest, skip2_exist=True):
    return [x, torch.arange(index.numel()).flip(0) % x.shape[0], bias]


def pick_rows(x: torch.Tensor, index: torch.Tensor, bias: torch.Tensor = None, largest: bool = False):
    y = x[index]
    return (y if bias is None else y + bias), index.clone()


def pick_rows_oracle(x, index, bias=None, largest=False):
    return pick_rows(x, index, bias, largest)
"""
SUM_PROTO = """\
operator:
  name: SumLists
  schema: "sum_lists(Tensor[] x, float scale=1.0) -> Tensor[] y"
  inputs: [{name: x, dtype: [float32]}]
  outputs: [{name: y, dtype: [float32]}]
"""
SUM_CASES = """\
cases:
  - {case_id: 1, input_shape: [[[3, 4], [5]]], dtype: [[float32, float32]], attrs: {scale: 0.5},
     value_range: [[[-1, 1]]]}
"""
SUM_GOLDEN = """\
import torch


def get_output(y, scale=1.0):
    return [entry.flatten().sort().values for entry in y]


def sum_lists(x, scale=1.0):
    return [entry * scale + 1 for entry in x]
"""
METADATA = {
    "_metadata": {"hardware": "910b2"},
    "level1": {
        "scale": {"1": {"baseline_perf_us": 40.2, "t_hw_us": 1.09}, "2": {"baseline_perf_us": None, "t_hw_us": 2}}
    },
    "level2": {"pick_rows": {"1": {"baseline_perf_us": {"910b2": 40.2, "910b1": 45.1}, "t_hw_us": 3.5}}},
}


def write_task_tree(root: Path) -> Path:
    """A tree of three operators in two levels, with times of one hardware and a bit."""
    texts = {
        "level1/scale/proto.yaml": SCALE_PROTO,
        "level1/scale/cases.yaml": SCALE_CASES,
        "level1/scale/golden.py": SCALE_GOLDEN,
        "level1/scale/desc.md": "# Scale\n",
        "level2/pick_rows/proto.yaml": PICK_PROTO,
        "level2/pick_rows/cases.csv": PICK_CASES,
        "level2/pick_rows/golden.py": PICK_GOLDEN,
        "level2/pick_rows/desc.md": "# PickRows\n",
        "level2/sum_lists/proto.yaml": SUM_PROTO,
        "level2/sum_lists/cases.yaml": SUM_CASES,
        "level2/sum_lists/golden.py": SUM_GOLDEN,
        "level2/sum_lists/desc.md": "# SumLists\n",
        "metadata/910b2.json": json.dumps(METADATA),
    }
    for path, text in texts.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


def write_operator(root: Path, golden: str, proto: str = SCALE_PROTO, cases: str = SCALE_CASES) -> Path:
    """A tree of the one operator `scale`."""
    folder = root / "level1" / "scale"
    folder.mkdir(parents=True)
    (folder / "proto.yaml").write_text(proto)
    (folder / "cases.yaml").write_text(cases)
    (folder / "golden.py").write_text(textwrap.dedent(golden))
    return root


CANDIDATE = """
def scale(x, factor=2.0, dims=None):
    return x * factor


def pick_rows(x, index, bias=None, largest=False):
    y = x[index]
    return (y if bias is None else y + bias), index.clone()


def sum_lists(x, scale=1.0):
    return [(entry * scale + 1).flip(0) for entry in x]
"""
"""Right for every operator of the tree; the order within a list's entry is what `get_output` looks away from."""

LINEAR = """
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, wide, narrow, bias=True):
        super().__init__()
        self.layer = nn.Linear(wide, narrow, bias=bias)

    def forward(self, x, factor):
        return torch.relu(self.layer(x)) * factor


def get_inputs():
    return [torch.randn(5, 24), 0.5]


def get_init_inputs():
    return [24, 7]
"""
PAIR = """
import torch


class Model(torch.nn.Module):
    def forward(self, x, y):
        return (x @ y).half(), (x > 0).sum(1)


def get_inputs():
    return [torch.rand(6, 4), torch.rand(4, 3)]
"""
LINEAR_NEW = LINEAR.replace("class Model", "class ModelNew").replace(
    "torch.relu(self.layer(x)) * factor", "torch.addmm(self.layer.bias, x, self.layer.weight.t()).clamp_min(0) * factor"
)
PAIR_NEW = PAIR.replace("class Model", "class ModelNew")


def write_modules(root: Path, **files: str) -> Path:
    """A folder of two problems in one level, with times of one hardware."""
    texts = {"1_Linear_with_ReLU_": LINEAR, "2_pair": PAIR, **files}
    (root / "level1").mkdir(parents=True)
    (root / "metadata").mkdir()
    for stem, text in texts.items():
        (root / "level1" / f"{stem}.py").write_text(text)
    times = {"level1": {"1_Linear_with_ReLU_": 12.5, "2_pair": {"910b2": 3.5, "910b1": 4}}}
    (root / "metadata" / "910b2.json").write_text(json.dumps(times))
    return root
