"""The transition table and the one function that moves."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from enum import StrEnum

import pytest

from app.lifecycle import SETTLED, TRANSITIONS, RunStatus, SubmissionStatus, TransitionRefused, may_move, move


@dataclass
class Thing:
    status: StrEnum


ALLOWED = {
    "received": {"queued", "cancelled", "failed"},
    "queued": {"running", "cancelled", "failed"},
    "running": {"published", "held", "failed", "cancelled"},
    "held": {"published", "withdrawn"},
    "published": {"held", "withdrawn"},
}


@pytest.mark.parametrize(("current", "target"), [*itertools.product(SubmissionStatus, repeat=2)])
def test_a_submission_moves_exactly_where_the_design_lets_it(
    current: SubmissionStatus, target: SubmissionStatus
) -> None:
    thing = Thing(current)
    if target.value in ALLOWED.get(current.value, set()):
        move(thing, target)
        assert thing.status is target
    else:
        with pytest.raises(TransitionRefused):
            move(thing, target)
        assert thing.status is current


def test_a_run_never_goes_back() -> None:
    order = {RunStatus.QUEUED: 0, RunStatus.RUNNING: 1}
    for current, target in itertools.product(RunStatus, repeat=2):
        if may_move(current, target):
            assert order[current] < order.get(target, 2)


def test_a_submission_never_goes_back_to_where_it_waited_or_ran() -> None:
    early = [SubmissionStatus.RECEIVED, SubmissionStatus.QUEUED, SubmissionStatus.RUNNING]
    rank = {status: place for place, status in enumerate(early)}
    for current, target in itertools.product(SubmissionStatus, repeat=2):
        if may_move(current, target):
            assert rank.get(target, len(early)) > rank.get(current, -1) or current not in early


def test_every_status_has_its_row_and_kinds_do_not_mix() -> None:
    assert set(TRANSITIONS[SubmissionStatus]) == set(SubmissionStatus)
    assert set(TRANSITIONS[RunStatus]) == set(RunStatus)
    assert all(type(to) is kind for kind, table in TRANSITIONS.items() for ways in table.values() for to in ways)
    assert not may_move(SubmissionStatus.RUNNING, RunStatus.CANCELLED)
    assert not may_move(RunStatus.RUNNING, SubmissionStatus.CANCELLED)


def test_what_is_settled_never_runs_again() -> None:
    assert all(not may_move(status, SubmissionStatus.RUNNING) for status in SETTLED)
    assert SubmissionStatus.FAILED in SETTLED
