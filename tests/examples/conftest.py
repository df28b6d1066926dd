"""The C++ example, built once per session in the build box and loaded into this process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from kernel_eval.build.compile import build_candidate
from kernel_eval.model import Build, Candidate
from kernel_eval.settings import Settings

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="session")
def cpu_cpp_build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    folder = tmp_path_factory.mktemp("cpu_cpp")
    return build_candidate(Candidate(EXAMPLES / "cpu_cpp"), Settings(folder, folder, threads=2), folder / "build")


@pytest.fixture(scope="session")
def cpu_cpp(cpu_cpp_build: Build) -> Callable[..., Any]:
    """Calls one of the example's operators by name."""
    assert cpu_cpp_build.package_dir is not None, cpu_cpp_build.message + cpu_cpp_build.log.decode(errors="replace")
    torch.ops.load_library(next((cpu_cpp_build.package_dir / "cann_bench").glob("_C*.so")))
    return lambda name, *arguments, **attributes: getattr(torch.ops.cann_bench, name)(*arguments, **attributes)
