"""Prepared children: stopped until the clock runs, one call per buffer, killed at "done"."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import pytest
import torch

from kernel_eval.errors import InternalError
from kernel_eval.model import ArgumentSpec, CallSpec, ResultSpec
from kernel_eval.runner.box import RunBox
from kernel_eval.runner.play import PlayStatus
from kernel_eval.runner.pool import Pool
from kernel_eval.runner.process import is_leaving
from tests.factories.processes import gone, thread_states

from .calls import call_of, fill, floats

pytestmark = pytest.mark.sandbox
LIMIT_S = 30.0


def test_a_prepared_child_stands_still_until_its_clock_runs(behaviours: RunBox, pool: Pool) -> None:
    call = call_of("count")
    pool.lay_out(call, 3)
    child = behaviours.spawn(call, pool, (2, 0, 1), warmup=3)
    assert child.ready().prepared
    pid = child._process.pid
    used = child._process.cpu_ns()
    assert thread_states(pid) == {"T"}
    time.sleep(0.1)
    assert thread_states(pid) == {"T"}
    assert child._process.cpu_ns() == used
    assert child.run(LIMIT_S).status is PlayStatus.OK
    child.close()
    deadline = time.monotonic() + 10
    while os.path.exists(f"/proc/{pid}"):  # a corpse until the zygote has reaped it
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_after_its_batch_a_child_can_do_nothing_any_more_and_closing_waits_for_its_end(
    behaviours: RunBox, pool: Pool
) -> None:
    call = call_of("exp", (1 << 18,))
    pool.lay_out(call, 2)
    child = behaviours.spawn(call, pool, (0, 1), warmup=1)
    pid = child._process.pid
    assert child.run(LIMIT_S).status is PlayStatus.OK
    assert is_leaving(pid)
    with pytest.raises(InternalError, match="runs only once"):
        child.run(LIMIT_S)
    child.close()
    assert gone(pid)


def test_a_living_process_is_not_leaving() -> None:
    assert not is_leaving(os.getpid())
    assert is_leaving(1 << 22)


def test_the_operator_is_called_once_per_buffer_in_the_given_order(behaviours: RunBox, pool: Pool) -> None:
    call = call_of("count")
    pool.lay_out(call, 4)
    with_warmup = behaviours.spawn(call, pool, (2, 0, 3), warmup=3)
    assert with_warmup.run(LIMIT_S).status is PlayStatus.OK
    assert [float(pool.outputs(index)[0][0][0]) for index in (2, 0, 3)] == [4, 5, 6]
    assert torch.isnan(pool.outputs(1)[0][0]).all()


def test_inputs_may_be_written_while_children_stand_prepared(behaviours: RunBox, pool: Pool) -> None:
    call = call_of("exp", (1 << 18,))
    pool.lay_out(call, 4)
    children = [behaviours.spawn(call, pool, order, warmup=2) for order in ((0, 1, 2, 3), (3, 1, 0, 2), (2, 3, 1, 0))]
    assert all(child.ready().prepared for child in children)
    fill(pool, 4)
    for child in children:
        play = child.run(LIMIT_S)
        assert (play.status, play.copied) == (PlayStatus.OK, 0)
        for index in range(4):
            assert torch.equal(pool.outputs(index)[0][0], torch.exp(pool.inputs(index)[0]))
        pool.poison()
        assert torch.isnan(pool.outputs(0)[0][0]).all()


def test_a_second_process_never_finds_the_first_one_s_outputs(behaviours: RunBox, pool: Pool) -> None:
    call = call_of("exp")
    pool.lay_out(call, 2)
    children = [behaviours.spawn(call, pool, (0, 1), 1), behaviours.spawn(call, pool, (0,), 1)]
    for child in children:
        assert child.run(LIMIT_S).status is PlayStatus.OK
    assert torch.isnan(pool.outputs(1)[0][0]).all()


@pytest.mark.parametrize("function", ["from_numpy", "contiguous_view", "identity"])
def test_results_elsewhere_are_fetched_out_of_the_stopped_process(
    behaviours: RunBox, pool: Pool, function: str
) -> None:
    call = call_of(function)
    pool.lay_out(call, 3)
    child = behaviours.spawn(call, pool, (1, 2, 0), warmup=1)
    assert child.ready().prepared
    fill(pool, 3)
    play = child.run(LIMIT_S)
    assert (play.status, play.copied) == (PlayStatus.OK, 3)
    for index in range(3):
        x = pool.inputs(index)[0]
        assert torch.equal(pool.outputs(index)[0][0], x if function == "identity" else x * 2)


@pytest.mark.parametrize("function", ["listed", "listed_backwards"])
def test_lists_of_results_are_complete_in_timed_batches(behaviours: RunBox, pool: Pool, function: str) -> None:
    tensors = (floats(65), floats(65), floats(65))
    call = CallSpec(function, (ArgumentSpec("xs", tensors, True),), {}, (ResultSpec("ys", tensors, True),))
    pool.lay_out(call, 3)
    child = behaviours.spawn(call, pool, (2, 1, 0), warmup=2)
    assert child.ready().prepared
    fill(pool, 3)
    assert child.run(LIMIT_S).status is PlayStatus.OK
    for index in range(3):
        for got, x in zip(pool.outputs(index)[0], pool.inputs(index), strict=True):
            assert torch.equal(got, x + 1)


def test_a_scratch_tensor_of_the_result_s_size_does_not_spoil_results(behaviours: RunBox, pool: Pool) -> None:
    call = call_of("keeps_scratch")
    pool.lay_out(call, 3)
    child = behaviours.spawn(call, pool, (0, 1, 2), warmup=1)
    assert child.ready().prepared
    fill(pool, 3)
    assert child.run(LIMIT_S).status is PlayStatus.OK
    for index in range(3):
        assert torch.equal(pool.outputs(index)[0][0], torch.exp(pool.inputs(index)[0]))


def test_a_failure_in_the_warm_up_shows_when_the_child_should_be_ready(behaviours: RunBox, pool: Pool) -> None:
    call = call_of("raises")
    pool.lay_out(call, 1)
    failure = behaviours.spawn(call, pool, (0,), warmup=1).ready().failure
    assert failure is not None
    assert failure.status is PlayStatus.RAISED
    assert failure.detail.startswith("in the warm-up: ValueError")


def test_a_failure_in_the_batch_is_no_time(behaviours: RunBox, pool: Pool) -> None:
    call = call_of("warm_up_only")
    pool.lay_out(call, 3)
    play = behaviours.spawn(call, pool, (0, 1, 2), warmup=2).run(LIMIT_S)
    assert (play.status, play.detail) == (PlayStatus.RAISED, "RuntimeError: third call")
    assert play.elapsed_ns is None


def test_a_wrong_structure_in_the_warm_up_is_claimed(behaviours: RunBox, pool: Pool) -> None:
    call = call_of("float64")
    pool.lay_out(call, 1)
    failure = behaviours.spawn(call, pool, (0,), warmup=1).ready().failure
    assert failure is not None
    assert failure.status is PlayStatus.WRONG_STRUCTURE
    assert failure.claims[0].tensors[0].dtype == "float64"


def test_an_operator_without_declared_results_is_timed(behaviours: RunBox, pool: Pool) -> None:
    call = call_of("nothing", results=())
    pool.lay_out(call, 200)
    play = behaviours.spawn(call, pool, range(200), warmup=3).run(LIMIT_S)
    assert play.status is PlayStatus.OK
    assert play.elapsed_ns is not None
    assert play.elapsed_ns < 1e9


def test_the_judge_s_clock_sees_the_time_that_an_operator_sleeps(behaviours: RunBox, pool: Pool) -> None:
    call = call_of("hang")
    pool.lay_out(call, 1)
    started = time.monotonic()
    play = behaviours.spawn(call, pool, (0,), warmup=0).run(0.5)
    assert play.status is PlayStatus.TIMED_OUT
    assert time.monotonic() - started >= 0.5


@pytest.mark.slow
def test_a_child_that_was_ready_in_time_may_be_asked_late(box_of: Callable[..., RunBox], pool: Pool) -> None:
    box = box_of("behaviours", prepare_limit_s=5.0)
    call = call_of("exp")
    pool.lay_out(call, 1)
    assert box.play(call, pool, 0, LIMIT_S).status is PlayStatus.OK
    child = box.spawn(call, pool, (0,), warmup=1)
    time.sleep(5.2)
    assert child.ready().prepared
    assert child.run(LIMIT_S).status is PlayStatus.OK
    box.__exit__(None, None, None)


def test_children_of_an_old_layout_are_refused(behaviours: RunBox, pool: Pool) -> None:
    call = call_of("exp")
    pool.lay_out(call, 1)
    child = behaviours.spawn(call, pool, (0,), warmup=1)
    assert child.ready().prepared
    pool.lay_out(call, 2)
    with pytest.raises(InternalError, match="laid out anew"):
        child.run(LIMIT_S)
    child.close()


@pytest.mark.parametrize("order", [(), (0, 0), (1,), (-1,)])
def test_a_senseless_order_is_refused(behaviours: RunBox, pool: Pool, order: tuple[int, ...]) -> None:
    call = call_of("exp")
    pool.lay_out(call, 1)
    with pytest.raises(ValueError, match="distinct buffers"):
        behaviours.spawn(call, pool, order, warmup=1)


def test_a_pool_of_another_form_is_refused(behaviours: RunBox, pool: Pool) -> None:
    pool.lay_out(call_of("exp"), 1)
    with pytest.raises(ValueError, match="not laid out"):
        behaviours.spawn(call_of("exp", (7,)), pool, (0,), warmup=1)
