"""A kernel of fixed work, timed all through an evaluation: how steady the host was while it measured."""

from __future__ import annotations

import random

from kernel_eval.errors import NotMeasured
from kernel_eval.model import ArgumentSpec, CallSpec, Measurement, ResultSpec, TensorSpec
from kernel_eval.runner.box import RunBox
from kernel_eval.runner.pool import Pool
from kernel_eval.timing.alone import alone
from kernel_eval.timing.statistics import measurement_of

CONTROL_FUNCTION = "control"
"""Its name in the baseline package."""
CALLS = 128
LIMIT_S = 10.0
SEED = 0
TENSOR = TensorSpec("float32", (1 << 16,))
CALL = CallSpec(CONTROL_FUNCTION, (ArgumentSpec("x", (TENSOR,)),), {}, (ResultSpec("y", (TENSOR,)),))


class Control:
    """Samples of the control kernel, each from a process of its own, like those of candidates and baselines."""

    def __init__(self, baseline: RunBox, pool: Pool, warmup: int) -> None:
        self._baseline, self._pool, self._warmup = baseline, pool, warmup
        self._samples_us: list[float] = []

    def sample(self) -> None:
        """Time one batch. Lays out the pool anew. Raises `NotMeasured` where the control itself fails."""
        with alone():
            self._pool.lay_out(CALL, CALLS)
            child = self._baseline.spawn(CALL, self._pool, random.sample(range(CALLS), CALLS), self._warmup)
            try:
                play = child.ready().failure or child.run(LIMIT_S)
            finally:
                child.close()
        if play.elapsed_ns is None:
            raise NotMeasured(f"the control kernel {play.status}: {play.detail}")
        self._samples_us.append(play.elapsed_ns / 1e3 / CALLS)

    def measurement(self) -> Measurement | None:
        """All samples so far in µs per call; None before the first."""
        return measurement_of(self._samples_us, CALLS, SEED) if self._samples_us else None
