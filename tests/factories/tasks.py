"""Small task sets and operators for tests, written to a folder like real ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import torch

from kernel_eval.golden.call import Golden
from kernel_eval.model import (
    AttributeSpec,
    Case,
    Comparator,
    InputSpec,
    Level,
    Operator,
    OutputSpec,
    RangeKind,
    ResultSpec,
    Split,
    TensorSpec,
    ValueRange,
)

FLOATS = ("float16", "float32", "bfloat16")
ALL_DTYPES = (*FLOATS, "float64", "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
PLAIN = ValueRange(RangeKind.UNIFORM, -1, 1)

PROTO = """\
operator: double
title: Double
function: double
level: L1
category: Elementwise
schema: double(Tensor x, float factor=2.0) -> Tensor y
inputs:
  - {name: x, dtypes: [float16, float32]}
attributes:
  - {name: factor, type: float, default: 2.0}
outputs:
  - {name: y, dtype: same as x, shape: same as x}
cases:
  ranks: [1, 2]
  dtypes: [float16, float32]
  attributes:
    factor: {between: [1.0, 3.0]}
"""
GOLDEN = """\
def golden(x, factor=2.0):
    return x * factor


def baseline(x, factor=2.0):
    return x * factor
"""
TABLE = """\
case_id,shapes,dtypes,attributes,values,note
1,"[[3, 5]]","[""float32""]","{""factor"": 2.5}",uniform -1 1,plain
2,[[7]],"[""float16""]","{}",nan -1 1,
"""
SUITE = """\
name = "tiny"
version = "1.0.0"
scale = "small"
seed = "tiny seed"

[operators]
L1 = ["double"]
"""


def write_suite(root: Path, **files: str) -> Path:
    """A task set of one operator in `root`; `files` replaces texts by name (proto, golden, table, suite)."""
    folder = root / "level1" / "double"
    folder.mkdir(parents=True)
    (root / "suites").mkdir()
    (folder / "desc.md").write_text("# Double\n")
    (folder / "desc.zh.md").write_text("# Double\n")
    (folder / "proto.yaml").write_text(files.get("proto", PROTO))
    (folder / "golden.py").write_text(files.get("golden", GOLDEN))
    (folder / "cases_small.csv").write_text(files.get("table", TABLE))
    (root / "suites" / "tiny.toml").write_text(files.get("suite", SUITE))
    return root


def operator_of(
    folder: Path,
    golden: str = "def golden(x):\n    return x\n",
    *,
    inputs: Sequence[InputSpec] = (InputSpec("x", ALL_DTYPES),),
    attributes: Sequence[AttributeSpec] = (),
    outputs: Sequence[OutputSpec] = (OutputSpec("y", "same as x", shape="same as x"),),
    thresholds: Mapping[str, float] | None = None,
    absolute_errors: Mapping[str, float] | None = None,
    relief: bool = False,
) -> Operator:
    """An operator whose golden is the given source."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "golden.py").write_text(golden)
    return Operator(
        name=folder.name,
        title="Sample",
        function="sample",
        level=Level.L1,
        category="Elementwise",
        schema="sample(Tensor x) -> Tensor y",
        inputs=tuple(inputs),
        attributes=tuple(attributes),
        outputs=tuple(outputs),
        folder=folder,
        thresholds=thresholds or {},
        absolute_errors=absolute_errors or {},
        same_precision_relief=relief,
    )


def case_of(
    operator: Operator,
    shapes: Sequence[object],
    dtypes: Sequence[str] = ("float32",),
    values: Sequence[ValueRange] = (PLAIN,),
    **attributes: float | int | str | bool,
) -> Case:
    """A public case of `operator`."""
    return Case(operator.name, 1, Split.PUBLIC, tuple(shapes), tuple(dtypes), attributes, tuple(values))  # type: ignore[arg-type]


def golden_of(*outputs: torch.Tensor | list[torch.Tensor]) -> Golden:
    """A golden that holds the given tensors; a list is one output that is a tensor list."""
    results = []
    tensors = []
    for index, output in enumerate(outputs):
        entries = output if isinstance(output, list) else [output]
        specs = tuple(TensorSpec(str(entry.dtype).removeprefix("torch."), tuple(entry.shape)) for entry in entries)
        results.append(ResultSpec(f"y{index}", specs, isinstance(output, list)))
        tensors.append(tuple(entries))
    return Golden(tuple(tensors), tuple(results))


def outputs_of(count: int, *, lists: bool = False, compared: bool = True) -> tuple[OutputSpec, ...]:
    """Output declarations that fit `golden_of`."""
    comparator = Comparator.NUMERIC if compared else Comparator.IGNORED
    return tuple(
        OutputSpec(f"y{index}", "same as x", shape="same as x", tensor_list=lists, comparator=comparator)
        for index in range(count)
    )
