"""Cases and peaks for limits."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kernel_eval.hap import CacheLevel, CpuPeaks
from kernel_eval.model import Attribute, Case, InputShape, Split

FIGURES = Path(
    os.environ.get("HAPBOARD_REFERENCE_FIGURES", Path(__file__).parents[4] / "shared/data/reference-figures.json")
)
LEVEL1 = ("exp", "foreach_addcdiv_scalar", "foreach_norm", "gelu", "masked_scale", "mish", "sigmoid", "swi_glu")


def new_case(
    operator: str,
    shapes: tuple[InputShape, ...],
    dtypes: str | tuple[str, ...] = "float32",
    case_id: int = 1,
    **attributes: Attribute,
) -> Case:
    every = (dtypes,) * len(shapes) if isinstance(dtypes, str) else dtypes
    return Case(operator, case_id, Split.PUBLIC, shapes, every, attributes, ())


def new_peaks(**other: Any) -> CpuPeaks:
    given: dict[str, Any] = {
        "cpu_model": "Model T",
        "cores": 2,
        "threads": 2,
        "memory_bytes_per_s": 20e9,
        "fill_bytes_per_s": 30e9,
        "cache_bytes": 32 * 2**20,
        "cache_bytes_per_s": 60e9,
        "near": (CacheLevel(1, 64 * 2**10, 400e9), CacheLevel(2, 2**20, 150e9)),
        "flops": {"float32": 200e9, "float64": 100e9},
        "vector_ops": {"b16": 200e9, "b32": 200e9, "b64": 100e9},
    }
    return CpuPeaks(**(given | other))


def _nested(shape: Any) -> Any:
    return tuple(_nested(part) if isinstance(part, list) else part for part in shape)


def _case(operator: str, row: Mapping[str, Any]) -> Case:
    shapes = tuple(None if shape is None else _nested(shape) for shape in row["input_shapes"])
    dtypes = row["dtypes"] * (len(shapes) if len(row["dtypes"]) == 1 else 1)
    attributes = {key: float(v) if v in ("nan", "inf", "-inf") else v for key, v in row["attrs"].items()}
    return new_case(operator, shapes, tuple(dtypes), row["case_id"], **attributes)


@pytest.fixture(scope="session")
def published_limits() -> list[tuple[Case, Mapping[str, float]]]:
    """The published level-1 cases with their limits in µs by hardware; skips where the figures aren't at hand."""
    if not FIGURES.is_file():
        pytest.skip("the published reference figures are not at hand; HAPBOARD_REFERENCE_FIGURES names their file")
    figures = json.loads(FIGURES.read_text())
    return [
        (_case(operator, row), {chip: row[f"t_hw_us_{chip}"] for chip in ("910b2", "950pr")})
        for operator in LEVEL1
        for row in figures[operator]
    ]
