"""The batches of a round and the children that play one each, prepared a few at a time."""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from enum import StrEnum

from kernel_eval.runner.conduct import CaseChild, first_to_speak
from kernel_eval.timing.bench import Bench, Subject
from kernel_eval.timing.pace import Side
from kernel_eval.timing.plan import play_order

AT_ONCE = 3
"""Children that prepare themselves at a time: one loads its package, another warms up, one waits for either."""
PATIENCE_S = 0.1
"""After so long without a word from any of them, the oldest is listened to, and what it printed is taken from it."""
AHEAD = 3
"""Pairs that are forked for the round to come, which is most often the next case's first."""


class Role(StrEnum):
    """What a batch is played for."""

    CANDIDATE = "candidate"
    BASELINE = "baseline"
    SHORT = "short"
    """The candidate's batch of another length."""

    @property
    def side(self) -> Side:
        """Whose calls they are."""
        return Side.BASELINE if self is Role.BASELINE else Side.CANDIDATE


@dataclass(frozen=True)
class Lane:
    """One batch of a round, the buffers it plays and the child that plays it."""

    role: Role
    order: tuple[int, ...]
    child: CaseChild


def draw_roles(randomness: random.Random, pairs: int, shorts: int) -> list[Role]:
    """The batches of a round in their order: pairs interleaved, either first at random, the short ones among them."""
    roles: list[Role] = []
    for _ in range(pairs):
        roles += randomness.sample((Role.CANDIDATE, Role.BASELINE), 2)
    for _ in range(shorts):
        roles.insert(randomness.randrange(len(roles) + 1), Role.SHORT)
    return roles


def bring_ahead(bench: Bench) -> None:
    """Begin to fork what the next round most likely needs, a batch of another length included.

    Done while this round's children still prepare themselves: a process that is moved into its control groups mostly
    waits, and none may be forked any more once a clock runs.
    """
    bench.candidate.bring_ahead(AHEAD + 1)
    bench.baseline.bring_ahead(AHEAD)


def meet_ahead(bench: Bench, roles: Sequence[Role]) -> None:
    """Have at hand what a round of these roles needs."""
    baselines = roles.count(Role.BASELINE)
    bench.candidate.meet_ahead(len(roles) - baselines)
    bench.baseline.meet_ahead(baselines)


def prepare(
    bench: Bench,
    subject: Subject,
    calls: dict[Side, int],
    places: Sequence[int],
    roles: Sequence[Role],
    stack: ExitStack,
) -> list[Lane]:
    """A lane per role, every child prepared and stopped, or failed; `stack` closes them.

    `calls` is the length of a side's batch, `places` are the buffers of the known inputs.
    """
    lanes: list[Lane] = []
    preparing: list[CaseChild] = []
    for role in roles:
        if len(preparing) == AT_ONCE:
            stop_one(preparing)
        lanes.append(_begin(bench, subject, role, _order(bench, subject, calls, places, role)))
        preparing.append(lanes[-1].child)
        stack.callback(lanes[-1].child.close)
    bring_ahead(bench)
    while preparing:
        stop_one(preparing)
    return lanes


def stop_one(preparing: list[CaseChild]) -> None:
    """Stop the first of these that stands prepared, or failed, and take it off the list.

    Until it is stopped, the threads of its warm-up spin and take the cores from the others.
    """
    child = first_to_speak(preparing, PATIENCE_S)
    child.ready()
    preparing.remove(child)


def _begin(bench: Bench, subject: Subject, role: Role, order: tuple[int, ...]) -> Lane:
    ours = role is Role.BASELINE
    box, call = (bench.baseline, subject.baseline) if ours else (bench.candidate, subject.candidate)
    return Lane(role, order, box.begin(call, bench.pool, order, bench.warmup))


def _order(
    bench: Bench, subject: Subject, calls: dict[Side, int], places: Sequence[int], role: Role
) -> tuple[int, ...]:
    length = calls[role.side]
    if role is Role.SHORT:
        length = max(length // 2, 1)
    return play_order(subject.plan, places, bench.randomness, length)
