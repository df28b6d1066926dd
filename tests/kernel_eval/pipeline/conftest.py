"""Evaluations of small candidates in the real sandbox."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kernel_eval.hap import CacheLevel, CpuPeaks
from kernel_eval.model import Candidate, Event, Report, Suite
from kernel_eval.pipeline import evaluate
from kernel_eval.settings import Settings
from kernel_eval.suite import default_bench_data, load_suite
from tests.factories.candidates import write_candidate

Judge = Callable[..., Report]

PEAKS = CpuPeaks(
    cpu_model="a processor for tests",
    cores=2,
    threads=2,
    memory_bytes_per_s=40e9,
    fill_bytes_per_s=40e9,
    cache_bytes=32 << 20,
    cache_bytes_per_s=120e9,
    near=(CacheLevel(2, 1 << 20, 200e9),),
    flops={"float32": 2e11},
    vector_ops={"b16": 2e11, "b32": 1e11, "b64": 5e10},
)
"""Fast enough that no Python candidate comes near a limit."""


@pytest.fixture(scope="session")
def whole_suite() -> Suite:
    return load_suite(default_bench_data(), "cann-bench-small")


@pytest.fixture(scope="session")
def golden_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def judge(tmp_path: Path, whole_suite: Suite, golden_cache: Path) -> Judge:
    """Judge a source text on some cases; keyword arguments change settings."""
    return judge_in(tmp_path, whole_suite, golden_cache)


@pytest.fixture(scope="module")
def module_judge(tmp_path_factory: pytest.TempPathFactory, whole_suite: Suite, golden_cache: Path) -> Judge:
    """The same, for one report that several tests look at."""
    return judge_in(tmp_path_factory.mktemp("evaluation"), whole_suite, golden_cache)


def judge_in(place: Path, whole_suite: Suite, golden_cache: Path) -> Judge:
    """A judge that works below the empty folder `place`, for one evaluation."""

    def run(
        source: str,
        operators: tuple[str, ...] = ("exp",),
        case_ids: tuple[int, ...] = (1, 2, 3),
        events: list[Event] | None = None,
        build: str | None = None,
        **changes: object,
    ) -> Report:
        folder = place / "source"
        write_candidate(folder, source, **({} if build is None else {"build": build}))
        suite = whole_suite.select(operators=frozenset(operators), case_ids=frozenset(case_ids))
        settings = Settings(work_dir=place / "work", cache_dir=golden_cache, timed=False)
        settings.work_dir.mkdir()
        listen = (events if events is not None else []).append
        return evaluate(Candidate(folder), suite, replace(settings, **changes), listen, peaks=PEAKS)

    return run
