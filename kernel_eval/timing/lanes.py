"""The batches of a round and the children that play one each, prepared two at a time."""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from enum import StrEnum

from kernel_eval.runner.conduct import CaseChild
from kernel_eval.timing.bench import Bench, Subject
from kernel_eval.timing.pace import Side
from kernel_eval.timing.plan import play_order

AT_ONCE = 2
"""Children that prepare themselves at a time: while one loads its package, the other warms up."""


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


def bring_ahead(bench: Bench, roles: Sequence[Role]) -> None:
    """Begin to fork what a round of these roles needs."""
    baselines = roles.count(Role.BASELINE)
    bench.candidate.bring_ahead(len(roles) - baselines)
    bench.baseline.bring_ahead(baselines)


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
    """A lane per role, every child begun and at most two of them not yet prepared; `stack` closes them.

    `calls` is the length of a side's batch, `places` are the buffers of the known inputs.
    """
    lanes: list[Lane] = []
    for role in roles:
        for lane in lanes[: 1 - AT_ONCE]:
            lane.child.ready()
        lanes.append(_begin(bench, subject, role, _order(bench, subject, calls, places, role)))
        stack.callback(lanes[-1].child.close)
    return lanes


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
