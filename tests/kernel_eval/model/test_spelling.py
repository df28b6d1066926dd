"""Known spellings of an operator's name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kernel_eval.model import Operator, spellings
from tests.factories.tasks import operator_of


def titled(folder: Path, title: str, function: str = "own") -> Operator:
    return replace(operator_of(folder / "sample"), title=title, function=function)


@pytest.mark.parametrize(
    ("title", "spelling"),
    [
        ("GridSampler3D", "grid_sampler3_d"),
        ("GridSampler3D", "grid_sampler3d"),
        ("GridSampler3D", "grid_sampler_3d"),
        ("GridSampler3D", "gridsampler3d"),
        ("GridSampler3D", "GridSampler3D"),
        ("RMSNorm", "rms_norm"),
        ("RMSNorm", "r_m_s_norm"),
        ("Conv2D", "conv_2d"),
        ("SwiGlu", "swi_glu"),
        ("Exp", "exp"),
    ],
)
def test_a_title_is_known_in_its_snake_case_spellings(tmp_path: Path, title: str, spelling: str) -> None:
    assert spelling in spellings(titled(tmp_path, title))


def test_the_schemas_function_name_comes_first_and_nothing_twice(tmp_path: Path) -> None:
    found = spellings(titled(tmp_path, "GridSampler3D", "sampler"))
    assert found[:2] == ("sampler", "sample")
    assert len(set(found)) == len(found)
    assert all(name.isidentifier() for name in found)


def test_a_title_that_is_no_identifier_adds_nothing(tmp_path: Path) -> None:
    assert spellings(titled(tmp_path, "3D-Thing")) == ("own", "sample")
