"""Small submissions in pure Python, built by a `build.sh` like any other."""

from __future__ import annotations

import textwrap
from pathlib import Path

BUILD = """\
set -e
python setup.py -q bdist_wheel
"""
SETUP = """\
from setuptools import setup

setup(name="cann_bench", version="1.0", packages=["cann_bench"])
"""
RIGHT = """
import torch


def exp(x, base=-1.0, scale=1.0, shift=0.0):
    power = x.double() * scale + shift
    if base > 0:
        power = power * torch.tensor(base, dtype=torch.float64).log()
    return power.exp().to(x.dtype)


def sigmoid(x):
    return torch.sigmoid(x.double()).to(x.dtype)


def mish(x):
    return torch.nn.functional.mish(x.double()).to(x.dtype)
"""
"""Three operators, right and slow."""


def write_candidate(folder: Path, source: str, *, build: str = BUILD) -> Path:
    """A submission whose package `cann_bench` is `source`."""
    package = folder / "cann_bench"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(textwrap.dedent(source))
    (folder / "setup.py").write_text(SETUP)
    (folder / "build.sh").write_text(build)
    return folder
