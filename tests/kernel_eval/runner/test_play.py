"""Single plays: values, calling convention, every way to fail, and that the box survives each."""

from __future__ import annotations

import time

import pytest
import torch

from kernel_eval.model import ArgumentSpec, CallSpec, Claim, Container, ResultSpec, TensorSpec, Verdict
from kernel_eval.runner.box import RunBox
from kernel_eval.runner.play import Play, PlayStatus
from kernel_eval.runner.pool import Pool

from .calls import call_of, fill, floats

pytestmark = pytest.mark.sandbox
LIMIT_S = 30.0


def played(box: RunBox, pool: Pool, call: CallSpec, limit_s: float = LIMIT_S) -> Play:
    pool.lay_out(call, 1)
    fill(pool, 1)
    return box.play(call, pool, 0, limit_s)


def test_a_right_operator_gives_its_values_and_what_it_returned(behaviours: RunBox, pool: Pool) -> None:
    play = played(behaviours, pool, call_of("exp"))
    assert play.status is PlayStatus.OK
    assert play.status.verdict is None
    assert play.elapsed_ns is not None
    assert play.elapsed_ns > 0
    assert torch.equal(pool.outputs(0)[0][0], torch.exp(pool.inputs(0)[0]))
    (claim,) = play.claims
    assert claim.container is Container.TENSOR
    assert claim.tensors[0].shape == (1000,)


def test_a_registered_operator_comes_before_the_package_s_function(behaviours: RunBox, pool: Pool) -> None:
    assert played(behaviours, pool, call_of("registered")).status is PlayStatus.OK
    assert torch.equal(pool.outputs(0)[0][0], pool.inputs(0)[0] + 1)


def test_arguments_and_attributes_are_passed_by_name(behaviours: RunBox, pool: Pool) -> None:
    assert played(behaviours, pool, call_of("keyword_only", alpha=3.0, beta=-1)).status is PlayStatus.OK
    assert torch.equal(pool.outputs(0)[0][0], pool.inputs(0)[0] * 3 - 1)


def test_several_outputs_and_lists_land_in_their_slots(behaviours: RunBox, pool: Pool) -> None:
    results = [ResultSpec("a", (floats(1000),)), ResultSpec("b", (floats(1000),))]
    assert played(behaviours, pool, call_of("two", results=results)).status is PlayStatus.OK
    x = pool.inputs(0)[0]
    assert torch.equal(pool.outputs(0)[0][0], x + 1)
    assert torch.equal(pool.outputs(0)[1][0], x + 2)


@pytest.mark.parametrize("function", ["listed", "listed_backwards", "as_tuple_list"])
def test_tensor_lists_keep_their_order_wherever_the_results_lie(behaviours: RunBox, pool: Pool, function: str) -> None:
    tensors = (floats(7), floats(7), floats(7, 3), floats(0), floats())
    call = CallSpec(function, (ArgumentSpec("xs", tensors, True),), {}, (ResultSpec("ys", tensors, True),))
    assert played(behaviours, pool, call).status is PlayStatus.OK
    for got, x in zip(pool.outputs(0)[0], pool.inputs(0), strict=True):
        assert torch.equal(got, x + 1)


def test_an_omitted_optional_input_is_none(behaviours: RunBox, pool: Pool) -> None:
    arguments = (ArgumentSpec("x", (floats(5),)), ArgumentSpec("y", ()))
    call = CallSpec("optional", arguments, {}, (ResultSpec("z", (floats(5),)),))
    assert played(behaviours, pool, call).status is PlayStatus.OK
    assert torch.equal(pool.outputs(0)[0][0], pool.inputs(0)[0])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int64", "bool", "uint8", "float64"])
def test_every_dtype_passes_through(behaviours: RunBox, pool: Pool, dtype: str) -> None:
    tensor = TensorSpec(dtype, (3, 5))
    call = CallSpec("identity", (ArgumentSpec("x", (tensor,)),), {}, (ResultSpec("y", (tensor,)),))
    pool.lay_out(call, 1)
    pool.inputs(0)[0].copy_(torch.arange(15).reshape(3, 5) % 2)
    assert behaviours.play(call, pool, 0, LIMIT_S).status is PlayStatus.OK
    assert torch.equal(pool.outputs(0)[0][0], pool.inputs(0)[0])


@pytest.mark.parametrize(
    ("function", "copied"), [("exp", 0), ("from_numpy", 1), ("contiguous_view", 1), ("identity", 1)]
)
def test_results_elsewhere_are_copied_into_their_slots(
    behaviours: RunBox, pool: Pool, function: str, copied: int
) -> None:
    play = played(behaviours, pool, call_of(function))
    x = pool.inputs(0)[0]
    wanted = {"exp": torch.exp(x), "from_numpy": x * 2, "contiguous_view": x * 2, "identity": x}[function]
    assert (play.status, play.copied) == (PlayStatus.OK, copied)
    assert torch.equal(pool.outputs(0)[0][0], wanted)


def test_an_operator_in_place_leaves_the_judge_s_inputs_alone(behaviours: RunBox, pool: Pool) -> None:
    call = call_of("writes_into_input", in_place=True)
    pool.lay_out(call, 1)
    fill(pool, 1)
    before = pool.inputs(0)[0].clone()
    assert behaviours.play(call, pool, 0, LIMIT_S).status is PlayStatus.OK
    assert torch.equal(pool.inputs(0)[0], before)
    assert torch.equal(pool.outputs(0)[0][0], before + 1)


def test_writing_into_a_shared_input_costs_the_process_its_life(behaviours: RunBox, pool: Pool) -> None:
    play = played(behaviours, pool, call_of("writes_into_input"))
    assert play.status is PlayStatus.CRASHED
    assert "SIGSEGV" in play.detail


def test_a_late_writer_cannot_change_what_is_read(behaviours: RunBox, pool: Pool) -> None:
    assert played(behaviours, pool, call_of("late_writer")).status is PlayStatus.OK
    first = pool.outputs(0)[0][0].clone()
    time.sleep(0.05)
    assert torch.equal(pool.outputs(0)[0][0], first)


CLAIMS = {
    "float64": lambda claim: claim.tensors[0].dtype == "float64",
    "other_shape": lambda claim: claim.tensors[0].shape == (1000, 1),
    "not_contiguous": lambda claim: not claim.tensors[0].contiguous,
    "subclass": lambda claim: not claim.tensors[0].exact_type and claim.type_name == "Sub",
    "parameter": lambda claim: not claim.tensors[0].exact_type,
    "with_attribute": lambda claim: not claim.tensors[0].exact_type,
    "array": lambda claim: claim.container is Container.OTHER and claim.type_name == "ndarray",
    "wrapped": lambda claim: claim.container is Container.TUPLE and claim.count == 1,
    "nothing": lambda claim: claim.container is Container.OTHER and claim.type_name == "NoneType",
    "negated_lazily": lambda claim: not claim.tensors[0].contiguous,
}


@pytest.mark.parametrize("function", CLAIMS)
def test_a_wrong_structure_is_claimed_as_what_it_is(behaviours: RunBox, pool: Pool, function: str) -> None:
    play = played(behaviours, pool, call_of(function))
    assert play.status is PlayStatus.WRONG_STRUCTURE
    claim: Claim = play.claims[0]
    assert CLAIMS[function](claim), claim


def test_too_few_and_too_many_outputs_are_claimed(behaviours: RunBox, pool: Pool) -> None:
    three = [ResultSpec(name, (floats(1000),)) for name in "abc"]
    few = played(behaviours, pool, call_of("two", results=three))
    assert (few.status, len(few.claims)) == (PlayStatus.WRONG_STRUCTURE, 2)
    alone = played(behaviours, pool, call_of("exp", results=three))
    assert (alone.status, len(alone.claims)) == (PlayStatus.WRONG_STRUCTURE, 1)


FAILURES = [
    ("raises", PlayStatus.RAISED, "ValueError: wrong [31m way second line xxx"),
    ("raises_nasty", PlayStatus.RAISED, "Nasty"),
    ("system_exit", PlayStatus.RAISED, "SystemExit: 3"),
    ("segfault", PlayStatus.CRASHED, "killed by SIGSEGV"),
    ("abort", PlayStatus.CRASHED, "killed by SIGABRT; it printed: about to abort"),
    ("leave", PlayStatus.CRASHED, "the process ended by itself with exit code 0"),
    ("eat_memory", PlayStatus.OUT_OF_MEMORY, ""),
    ("ask_for_too_much", PlayStatus.OUT_OF_MEMORY, ""),
    ("fill_tmp", PlayStatus.RAISED, "OSError: [Errno 28] No space left on device"),
    ("fork_bomb", PlayStatus.RAISED, "PermissionError"),
    ("thread_bomb", PlayStatus.RAISED, "RuntimeError: can't start new thread"),
    ("no_such_function", PlayStatus.LOAD_FAILED, "neither torch.ops.cann_bench.no_such_function nor"),
]


@pytest.mark.parametrize(("function", "status", "detail"), FAILURES)
def test_each_failure_has_its_own_status_and_leaves_the_box_usable(
    behaviours: RunBox, pool: Pool, function: str, status: PlayStatus, detail: str
) -> None:
    play = played(behaviours, pool, call_of(function))
    assert play.status is status
    assert play.detail.startswith(detail)
    assert len(play.detail) <= 400
    assert play.detail.isprintable()
    assert play.status.verdict not in (None, Verdict.ACCEPTED)
    assert played(behaviours, pool, call_of("exp")).status is PlayStatus.OK


@pytest.mark.parametrize("function", ["hang", "spin", "print_for_ever"])
def test_a_hanging_operator_is_timed_out(behaviours: RunBox, pool: Pool, function: str) -> None:
    started = time.monotonic()
    play = played(behaviours, pool, call_of(function), limit_s=0.7)
    assert play.status is PlayStatus.TIMED_OUT
    assert play.detail.startswith("not done within 0.7 s")
    assert time.monotonic() - started < 20


def test_a_gigabyte_of_output_is_read_away(behaviours: RunBox, pool: Pool) -> None:
    assert played(behaviours, pool, call_of("print_gigabytes")).status is PlayStatus.OK


def test_outputs_of_sixteen_mebibytes_and_more_are_right_as_well(behaviours: RunBox, pool: Pool) -> None:
    call = call_of("exp", (5 << 20,))
    assert played(behaviours, pool, call).status is PlayStatus.OK
    assert torch.equal(pool.outputs(0)[0][0], torch.exp(pool.inputs(0)[0]))
