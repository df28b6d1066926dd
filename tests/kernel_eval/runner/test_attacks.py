"""What a submission tries from inside its process, and what it may say to the judge."""

from __future__ import annotations

import pytest
import torch

from kernel_eval.runner.box import RunBox
from kernel_eval.runner.play import Play, PlayStatus
from kernel_eval.runner.pool import Pool

from .calls import call_of, fill

pytestmark = pytest.mark.sandbox

STOPPED = [
    "network", "unix_socket", "process", "fork", "other_processes", "kill_zygote", "ptrace_zygote", "write_package",
    "write_anywhere", "public_file", "become_root", "raise_priority", "secrets", "descriptors", "write_inputs",
    "see_golden",
]  # fmt: skip


def played(box: RunBox, pool: Pool, function: str, limit_s: float = 10.0, **attributes: str) -> Play:
    call = call_of(function, **attributes)
    pool.lay_out(call, 1)
    fill(pool, 1)
    return box.play(call, pool, 0, limit_s)


@pytest.mark.parametrize("name", STOPPED)
def test_each_attack_is_stopped(attacks: RunBox, pool: Pool, name: str) -> None:
    play = played(attacks, pool, "attack", name=name)
    assert play.status is PlayStatus.OK, play.detail
    assert torch.equal(pool.outputs(0)[0][0], pool.inputs(0)[0] + 1)


def test_an_attack_that_succeeds_would_be_seen(attacks: RunBox, pool: Pool) -> None:
    """The probes prove nothing if they cannot fail: outside a sandbox this one does succeed."""
    play = played(attacks, pool, "attack", name="no_such_attack")
    assert play.status is PlayStatus.RAISED


def test_files_that_a_case_leaves_are_gone_in_the_next(attacks: RunBox, pool: Pool) -> None:
    assert played(attacks, pool, "attack", name="leave_file").status is PlayStatus.OK
    assert played(attacks, pool, "attack", name="find_file").status is PlayStatus.OK


def test_a_sibling_never_sees_a_case_s_files(attacks: RunBox, pool: Pool) -> None:
    call = call_of("attack", name="find_file")
    pool.lay_out(call, 1)
    waiting = attacks.spawn(call, pool, (0,), warmup=0)
    assert waiting.ready().prepared
    writer = attacks.spawn(call_of("attack", name="leave_file"), pool, (0,), warmup=0)
    assert writer.run(10.0).status is PlayStatus.OK
    assert waiting.run(10.0).status is PlayStatus.OK


@pytest.mark.parametrize("function", ["send_garbage", "send_oversize", "send_descriptor", "say_ready_again"])
def test_leaving_the_protocol_is_tampering(attacks: RunBox, pool: Pool, function: str) -> None:
    assert played(attacks, pool, function).status is PlayStatus.TAMPERED
    assert played(attacks, pool, "attack", name="network").status is PlayStatus.OK


def test_closing_the_line_is_tampering(attacks: RunBox, pool: Pool) -> None:
    assert played(attacks, pool, "close_channel").status is PlayStatus.TAMPERED


def test_saying_done_too_early_gains_nothing(attacks: RunBox, pool: Pool) -> None:
    """A timed process is killed at "done"; what it has not written by then stays poison."""
    call = call_of("say_done_early")
    pool.lay_out(call, 1)
    child = attacks.spawn(call, pool, (0,), warmup=0)
    child._assigned = child._assigned.__class__(**{**vars(child._assigned), "timed": True})
    assert child.run(5.0).status is PlayStatus.OK
    assert torch.isnan(pool.outputs(0)[0][0]).all()


def test_naming_memory_that_cannot_be_read_is_tampering(attacks: RunBox, pool: Pool) -> None:
    call = call_of("point_elsewhere")
    pool.lay_out(call, 2)
    play = attacks.spawn(call, pool, (0, 1), warmup=2).run(5.0)
    assert play.status is PlayStatus.TAMPERED
