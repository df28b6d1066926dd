"""Boxes that tests share: starting one imports torch, which takes seconds."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from kernel_eval.runner.box import RunBox
from kernel_eval.runner.pool import Pool
from kernel_eval.settings import Settings

PACKAGES = Path(__file__).with_name("packages")
MEMORY_BYTES = 700 << 20
BoxOf = Callable[..., RunBox]


@pytest.fixture(scope="session")
def run_settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    folder = tmp_path_factory.mktemp("run")
    return Settings(folder / "work", folder / "cache", threads=2)


@pytest.fixture(scope="session")
def box_of(tmp_path_factory: pytest.TempPathFactory, run_settings: Settings) -> Iterator[BoxOf]:
    """Opens a box with one of the packages beside this file."""
    with ExitStack() as stack:

        def open_box(name: str, prepare_limit_s: float = 60.0) -> RunBox:
            target = tmp_path_factory.mktemp(name)
            shutil.copytree(PACKAGES / name, target, dirs_exist_ok=True)
            box = RunBox(target, run_settings, memory_bytes=MEMORY_BYTES, prepare_limit_s=prepare_limit_s)
            return stack.enter_context(box)

        yield open_box


@pytest.fixture(scope="session")
def behaviours(box_of: BoxOf) -> RunBox:
    return box_of("behaviours")


@pytest.fixture(scope="session")
def attacks(box_of: BoxOf) -> RunBox:
    return box_of("attacks")


@pytest.fixture
def pool() -> Iterator[Pool]:
    made = Pool(16 << 20)
    yield made
    made.close()
