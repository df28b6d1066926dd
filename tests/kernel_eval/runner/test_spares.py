"""Processes that are forked ahead: each plays once, all are confined before they stand there, none outlives the box."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from kernel_eval.errors import InternalError
from kernel_eval.runner.box import BUNCH, FEW, RunBox
from kernel_eval.runner.conduct import first_to_speak
from kernel_eval.runner.line import Forked
from kernel_eval.runner.play import PlayStatus
from kernel_eval.runner.pool import Pool
from kernel_eval.runner.process import CaseProcess
from kernel_eval.runner.spares import Spares
from kernel_eval.sandbox.outside import Expected, faults

from .calls import call_of, fill

pytestmark = pytest.mark.sandbox
LIMIT_S = 30.0


def test_single_plays_are_served_from_bunches(behaviours: RunBox, pool: Pool) -> None:
    call = call_of("exp")
    pool.lay_out(call, 1)
    fill(pool, 1)
    least = BUNCH
    for _ in range(2 * BUNCH):
        assert behaviours.play(call, pool, 0, LIMIT_S).status is PlayStatus.OK
        least = min(least, len(behaviours._spares))
        assert len(behaviours._spares) <= max(BUNCH, FEW + 1)
    assert least >= FEW


def test_those_forked_ahead_stand_confined_in_groups_of_their_own(behaviours: RunBox) -> None:
    behaviours.bring_ahead(3)
    behaviours.meet_ahead(3)
    met = list(behaviours._spares._met)
    assert len(met) >= 3
    leaves = [forked.leaf for forked, _ in met]
    users = {forked.uid for forked, _ in met}
    assert len({leaf.name for leaf in leaves if leaf is not None}) == len(users) == len(met)
    for forked, process in met:
        assert forked.leaf is not None
        assert faults(process.pid, Expected(forked.leaf, forked.uid, filters=2, threads=1)) == []


def test_a_timed_child_comes_from_those_forked_ahead_and_forks_no_other(behaviours: RunBox, pool: Pool) -> None:
    call = call_of("exp")
    pool.lay_out(call, 2)
    behaviours.bring_ahead(3)
    behaviours.meet_ahead(3)
    there = len(behaviours._spares)
    for left in range(there - 1, -1, -1):
        child = behaviours.spawn(call, pool, (0, 1), 1)
        assert child.run(LIMIT_S).status is PlayStatus.OK
        assert len(behaviours._spares) == left


def test_those_already_met_are_taken_while_others_are_brought() -> None:
    asked, arrive = threading.Event(), threading.Event()
    there = [object() for _ in range(3)]
    waiting = iter(there)

    def slow() -> Any:
        found = next(waiting)
        if found is there[1]:
            asked.set()
            assert arrive.wait(LIMIT_S)
        return found

    spares = Spares(slow, lambda forked: cast("CaseProcess", forked))
    spares.request(1)
    spares.meet()
    spares.bring(2)
    assert asked.wait(LIMIT_S)
    assert spares.take()[0] is there[0]  # and does not wait for the others
    arrive.set()
    assert [spares.take()[0], spares.take()[0]] == there[1:]


def test_plays_go_on_while_others_are_brought(behaviours: RunBox, pool: Pool) -> None:
    call = call_of("exp")
    pool.lay_out(call, 1)
    fill(pool, 1)
    for _ in range(4):
        behaviours.bring_ahead(4)
        assert behaviours.play(call, pool, 0, LIMIT_S).status is PlayStatus.OK
        assert len(behaviours._spares) >= FEW


def test_the_first_of_several_to_speak_is_heard_first_and_the_oldest_where_none_speaks(
    behaviours: RunBox, pool: Pool
) -> None:
    call = call_of("exp")
    pool.lay_out(call, 2)
    mute = behaviours.begin(call_of("hang"), pool, (0,), warmup=1)
    quick = behaviours.begin(call, pool, (1,), warmup=1)
    assert first_to_speak([mute], 0) is mute
    assert first_to_speak([mute, quick], LIMIT_S) is quick
    assert quick.ready().prepared
    for child in (mute, quick):
        child.close()


def test_a_fault_while_others_are_brought_is_raised_where_they_are_asked_for() -> None:
    def broken() -> Forked:
        raise InternalError("the box's zygote is gone")

    spares = Spares(broken, Forked.meet)
    spares.bring(2)
    with pytest.raises(InternalError, match="zygote is gone"):
        spares.take()
    spares.close()


def test_none_outlives_its_box(box_of: Callable[..., RunBox]) -> None:
    box = box_of("behaviours")
    box.meet_ahead(2)
    box.bring_ahead(3)
    pids = [process.pid for _, process in box._spares._met]
    box.__exit__(None, None, None)
    assert len(box._spares) == 0
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
