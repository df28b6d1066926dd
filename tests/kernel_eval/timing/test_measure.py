"""Times of real children: what is pooled, what is verified, what is noticed."""

from __future__ import annotations

import random
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest
import torch

from kernel_eval.errors import NotMeasured
from kernel_eval.model import (
    ArgumentSpec,
    CallSpec,
    Comparison,
    MeasurementState,
    ResultSpec,
    TensorSpec,
    Verdict,
)
from kernel_eval.runner.box import RunBox
from kernel_eval.runner.pool import Pool
from kernel_eval.settings import Settings
from kernel_eval.timing.bench import Bench, Subject, Timing
from kernel_eval.timing.cpu import measure, steady
from kernel_eval.timing.overhead import Overheads
from kernel_eval.timing.plan import Plan

pytestmark = pytest.mark.sandbox

SPEC = TensorSpec("float32", (4096,))
PLAN = Plan(count=40, known=4, bytes_per_call=2 * SPEC.size_bytes)
PACKAGE = """
import os
import time

import torch

CALLS = []


def empty(*arguments, **attributes):
    return ()


def twice(x):
    return x + x


def slow(x):
    end = time.perf_counter() + 0.0005
    while time.perf_counter() < end:
        pass
    return x + x


def forgetful(x):
    CALLS.append(1)
    if len(CALLS) > 3 and len(CALLS) % 2:
        return torch.zeros_like(x)
    return x + x


def lazy(x):
    answer = x + x
    CALLS.append(1)
    if len(CALLS) == 4:
        end = time.perf_counter() + 0.05
        while time.perf_counter() < end:
            pass
    return answer


def dying(x):
    CALLS.append(1)
    if len(CALLS) > 10:
        os.abort()
    return x + x
"""


def call_of(function: str) -> CallSpec:
    return CallSpec(function, (ArgumentSpec("x", (SPEC,)),), {}, (ResultSpec("y", (SPEC,)),))


def score(baseline_us: float, candidate_us: float) -> float:
    """A score with the limit at zero."""
    return baseline_us / (baseline_us + candidate_us)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    place = tmp_path_factory.mktemp("bench")
    package = place / "package" / "cann_bench"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(textwrap.dedent(PACKAGE))
    settings = Settings(work_dir=place, cache_dir=place / "cache")
    with ExitStack() as stack:
        pool = Pool(4 << 20)
        stack.callback(pool.close)
        boxes = [
            stack.enter_context(RunBox(package.parent, settings, memory_bytes=1 << 30, trusted=ours))
            for ours in (False, True)
        ]
        yield Bench(boxes[0], boxes[1], pool, 3, 3, 0.002, random.Random(1), cross_checked=1.0)


@pytest.fixture(scope="module")
def overheads(bench: Bench) -> Overheads:
    made = Overheads(bench.baseline, bench.pool, 3)
    made.prepare(call_of("twice"))
    return made


Time = Callable[..., Timing]


@pytest.fixture
def timed(bench: Bench, overheads: Overheads) -> Time:
    """Time a function against another; `seen` collects the places of the known inputs of each round."""

    def run(candidate: str, baseline: str = "twice", seen: list[tuple[int, ...]] | None = None) -> Timing:
        def fill(places: Sequence[int], played: Sequence[int]) -> None:
            assert set(places) < set(played)
            (seen if seen is not None else []).append(tuple(places))
            for index in played:
                bench.pool.inputs(index)[0].uniform_(1.0, 2.0)

        def verify(trial: int, index: int) -> Comparison:
            (expected,) = bench.pool.inputs(index)
            ((found,),) = bench.pool.outputs(index)
            right = torch.equal(found, expected + expected)
            return Comparison(Verdict.ACCEPTED if right else Verdict.WRONG_VALUES, "equal")

        def overhead_us(calls: int) -> float:
            return overheads.batch_us(call_of("twice"), calls)

        subject = Subject(
            "twice", call_of(candidate), call_of(baseline), PLAN, fill, verify, overhead_us, 10.0, score, 7
        )
        return measure(bench, subject)

    return run


def test_every_process_gives_one_sample_and_all_are_kept(timed: Time) -> None:
    places: list[tuple[int, ...]] = []
    timing = timed("twice", seen=places)
    assert timing.candidate is not None
    assert timing.baseline is not None
    assert timing.candidate.state is MeasurementState.MEASURED
    assert len(timing.candidate.samples_us) >= 3
    assert len(timing.baseline.samples_us) == len(timing.candidate.samples_us)
    assert min(timing.candidate.samples_us) > 0
    assert timing.candidate.calls == PLAN.count
    assert len(timing.plays) == len(timing.candidate_us) + len(timing.short_us)
    assert all(len(set(drawn)) == PLAN.known for drawn in places)


def test_a_slow_candidate_is_seen_to_be_slow(timed: Time) -> None:
    timing = timed("slow")
    assert timing.candidate is not None
    assert timing.baseline is not None
    assert timing.candidate.median_us is not None
    assert timing.baseline.median_us is not None
    assert timing.candidate.median_us > 450.0
    assert timing.candidate.median_us > 2 * timing.baseline.median_us


def test_leaving_out_calls_is_found_by_the_known_inputs(timed: Time) -> None:
    timing = timed("forgetful")
    assert timing.verdict is Verdict.WRONG_VALUES
    assert timing.comparison is not None
    assert timing.candidate is None


def test_constant_work_per_batch_shows_in_a_batch_of_another_length(timed: Time) -> None:
    timing = timed("lazy")
    assert timing.short_ratio > 1.5
    assert timing.nonlinear or not steady(timing)  # on a host that wavers it proves nothing


def test_a_crash_while_timed_is_the_candidates(timed: Time) -> None:
    timing = timed("dying")
    assert timing.verdict is Verdict.CRASHED
    assert timing.play is not None
    assert "SIGABRT" in timing.play.detail


def test_a_failing_baseline_is_ours(timed: Time) -> None:
    with pytest.raises(NotMeasured, match="baseline"):
        timed("twice", baseline="dying")
    with pytest.raises(NotMeasured, match="baseline"):
        timed("twice", baseline="missing")


def test_no_value_is_left_in_the_pool_afterwards(timed: Time, bench: Bench) -> None:
    timed("twice")
    (column,) = bench.pool.input_columns()
    assert len(column) == PLAN.count
    assert not column.any()


def test_an_empty_operator_costs_little_and_in_proportion(overheads: Overheads) -> None:
    call = call_of("twice")
    fixed = overheads.batch_us(call, 0)
    each = (overheads.batch_us(call, 1000) - fixed) / 1000
    assert fixed >= 0
    assert 0 <= each < 500


def test_a_form_that_was_never_measured_has_no_overhead(overheads: Overheads) -> None:
    other = CallSpec("twice", (ArgumentSpec("x", (SPEC, SPEC), tensor_list=True),), {}, ())
    with pytest.raises(KeyError):
        overheads.batch_us(other, 10)


def test_a_bench_without_warm_up_still_measures(tmp_path: Path, bench: Bench, overheads: Overheads) -> None:
    bare = Bench(bench.candidate, bench.baseline, bench.pool, 0, 1, 0.002, random.Random(1), cross_checked=0.0)

    def verify(trial: int, index: int) -> Comparison:
        return Comparison(Verdict.ACCEPTED, "any")

    subject = Subject(
        "twice", call_of("twice"), call_of("twice"), PLAN, lambda places, played: None, verify,
        lambda calls: overheads.batch_us(call_of("twice"), calls), 10.0, score, 7,
    )  # fmt: skip
    timing = measure(bare, subject)
    assert timing.candidate is not None
    assert len(timing.candidate.samples_us) == 1
