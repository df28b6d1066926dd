"""What one timed batch consists of: how many buffers, which are known, in what order, for how long at most.

Rules: `docs/spec/`, timing. Pure arithmetic; randomness comes in as an argument.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kernel_eval.hap import CpuPeaks, work_of
from kernel_eval.model import Case, Operator

BATCH_US = 5_000.0
"""A batch should take at least this long, so that the clock and the wake-up cost little."""

BATCH_CEILING_US = 20_000.0
"""The cache rule never stretches a batch beyond this: slow calls gain nothing from a larger pool."""

CACHE_MULTIPLE = 4
"""Footprint of a pool, in last-level caches, from which on main memory is the bound."""

POOL_BYTES = 256 << 20
"""Largest footprint of a pool, inputs and outputs together."""

CALL_CEILING = 1024
"""Most calls of one batch; beyond that, buffers of a few bytes would fill the time of the judge alone."""

KNOWN = 4
"""V: inputs of a pool whose goldens are known and whose outputs are verified in every process."""

DRAWN = 32
"""Inputs of a pool that a suite's own code draws, at most."""

CALL_US = 3.0
"""What a call costs beyond its data, roughly."""

BYTES_PER_US = 8_000.0
"""A modest memory bandwidth, 8 GB/s: `expected_us` is meant to be of the right order on any host."""

LEAST_LIMIT_S = 10.0
LIMIT_FACTOR = 20.0


@dataclass(frozen=True)
class Plan:
    """A pool of `count` buffers, `known` of which hold inputs with goldens, one trial each."""

    count: int
    known: int
    bytes_per_call: int

    @property
    def pool_bytes(self) -> int:
        """Bytes one batch touches: inputs and outputs of all calls."""
        return self.count * self.bytes_per_call


def pool_count(call_us: float, bytes_per_call: int, llc_bytes: int) -> int:
    """n of the timing rules: max(5 ms / T, 4 x cache / bytes), within 256 MiB of buffers; at least 2.

    `call_us` is an estimate of one call's time. The cache's share stops where
    the batch would take longer than 20 ms, and no batch has more than 1,024 calls.
    """
    call_us = max(call_us, 1e-3)
    size = max(bytes_per_call, 1)
    by_time = math.ceil(BATCH_US / call_us)
    by_cache = min(math.ceil(CACHE_MULTIPLE * llc_bytes / size), math.ceil(BATCH_CEILING_US / call_us))
    return max(2, min(max(by_time, by_cache), POOL_BYTES // size, CALL_CEILING))


def expected_us(bytes_per_call: int) -> float:
    """An estimate of a call's time in µs from the bytes it moves alone.

    It plans batches, so it depends neither on the candidate nor on the day's peaks.
    """
    return CALL_US + bytes_per_call / BYTES_PER_US


def make_plan(bytes_per_call: int, llc_bytes: int) -> Plan:
    """The plan of a case whose call moves that many bytes; of a pool of two, both inputs are known.

    Whoever computes limits or anchors takes the same plan, for a limit depends on the pool's size.
    """
    count = pool_count(expected_us(bytes_per_call), bytes_per_call, llc_bytes)
    return Plan(count, min(KNOWN, count), bytes_per_call)


def plan_of(operator: Operator, case: Case, peaks: CpuPeaks) -> Plan:
    """How the case is timed on a host with these peaks. Raises `UsageError` for an operator without a cost record.

    Of an imported operator nobody knows the cost: its outputs are taken to be as large as its inputs. Where its own
    code makes the inputs, which costs a process each, a pool has no more than `DRAWN` of them.
    """
    if operator.foreign is not None:
        plan = make_plan(2 * _input_bytes(operator, case), peaks.cache_bytes)
        return replace(plan, count=min(plan.count, DRAWN)) if operator.foreign.draws_inputs else plan
    work = work_of(case)
    return make_plan(work.read_bytes + work.write_bytes, peaks.cache_bytes)


def _input_bytes(operator: Operator, case: Case) -> int:
    from kernel_eval.cases.inputs import tensor_specs  # loads torch, which the plan of an own suite needs not

    return sum(spec.size_bytes for spec in tensor_specs(operator, case))


def place_known(plan: Plan, randomness: random.Random) -> tuple[int, ...]:
    """The buffers that hold the known inputs, by trial: drawn anew each time, for a child sees where its inputs lie."""
    return tuple(randomness.sample(range(plan.count), plan.known))


def play_order(
    plan: Plan, places: Sequence[int], randomness: random.Random, length: int | None = None
) -> tuple[int, ...]:
    """A fresh order of `length` (all) of the pool's buffers with a known input, one of `places`, last.

    Known inputs are in it as far as it is long enough, so that a short batch is verified like a long one.
    """
    known = randomness.sample(places, len(places))
    last = known.pop()
    length = plan.count if length is None else length
    drawn = randomness.sample(range(plan.count), min(plan.count, length + len(places)))
    decoys = [index for index in drawn if index not in places]
    rest = (known + decoys)[: length - 1]
    randomness.shuffle(rest)
    return (*rest, last)


def batch_limit_s(baseline_us: float, calls: int) -> float:
    """Seconds after which a batch is timed out: max(10 s, 20 x T_base x calls)."""
    return max(LEAST_LIMIT_S, LIMIT_FACTOR * baseline_us * 1e-6 * calls)
