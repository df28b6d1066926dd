"""What a batch costs before the operator does anything: the trusted empty operator, timed like any other."""

from __future__ import annotations

import random
import statistics
from dataclasses import replace

from kernel_eval.errors import NotMeasured
from kernel_eval.model import ArgumentSpec, CallSpec, TensorSpec
from kernel_eval.runner.box import RunBox
from kernel_eval.runner.pool import Pool

EMPTY_FUNCTION = "empty"
"""Name of the empty operator in the baseline package."""
SHORT, LONG = 8, 512
"""Two batch lengths; a batch's cost is a straight line through both."""
PROCESSES = 3
LIMIT_S = 10.0

Signature = tuple[tuple[tuple[int, bool], ...], int]


class Overheads:
    """Costs of empty batches, measured once per form of call: arguments, list lengths, attributes.

    The tensors' sizes don't matter to an operator that looks at none, so one element each will do.
    """

    def __init__(self, baseline: RunBox, pool: Pool, warmup: int) -> None:
        self._baseline = baseline
        self._pool = pool
        self._warmup = warmup
        self._lines: dict[Signature, tuple[float, float]] = {}

    def prepare(self, call: CallSpec) -> None:
        """Measure this form of call if it is new. Lays out the pool anew. Raises `NotMeasured`."""
        signature = _signature(call)
        if signature not in self._lines:
            self._lines[signature] = self._measure(empty_call(call))

    def batch_us(self, call: CallSpec, count: int) -> float:
        """h in µs of a batch of `count` calls of a prepared form; `KeyError` for any other."""
        fixed, each = self._lines[_signature(call)]
        return fixed + each * count

    def _measure(self, call: CallSpec) -> tuple[float, float]:
        self._pool.lay_out(call, LONG)
        short = statistics.median(self._batch_us(call, SHORT) for _ in range(PROCESSES))
        long = statistics.median(self._batch_us(call, LONG) for _ in range(PROCESSES))
        each = max(long - short, 0.0) / (LONG - SHORT)
        return max(short - SHORT * each, 0.0), each

    def _batch_us(self, call: CallSpec, count: int) -> float:
        order = random.sample(range(LONG), count)
        child = self._baseline.spawn(call, self._pool, order, self._warmup)
        try:
            failure = child.ready().failure
            play = failure or child.run(LIMIT_S)
        finally:
            child.close()
        if play.elapsed_ns is None:
            raise NotMeasured(f"the empty operator {play.status}: {play.detail}")
        return play.elapsed_ns / 1e3


def empty_call(call: CallSpec) -> CallSpec:
    """The empty operator called with the same arguments, of one element each."""
    return replace(
        call, function=EMPTY_FUNCTION, arguments=tuple(map(_shrunk, call.arguments)), results=(), in_place=False
    )


def _shrunk(argument: ArgumentSpec) -> ArgumentSpec:
    return replace(argument, tensors=tuple(TensorSpec(tensor.dtype, (1,)) for tensor in argument.tensors))


def _signature(call: CallSpec) -> Signature:
    return tuple((len(argument.tensors), argument.tensor_list) for argument in call.arguments), len(call.attributes)
