"""Goldens and input values of a suite's cases, one object for correctness and timing alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from kernel_eval.cases.inputs import fill_inputs, make_inputs
from kernel_eval.golden.cache import GoldenCache
from kernel_eval.golden.call import Golden, Outputs, reference, result_specs
from kernel_eval.golden.native import NativeRunner
from kernel_eval.model import Case, Comparison, Operator, ResultSpec, Suite

Tensors = Sequence[Sequence[torch.Tensor]]


class Goldens:
    """Answers for a case and a trial; computed once, then read from the cache on disk. Safe to use from two threads."""

    def __init__(self, suite: Suite, cache: GoldenCache, native: NativeRunner) -> None:
        self._suite = suite
        self._cache = cache
        self._native = native

    def golden(self, operator: Operator, case: Case, trial: int) -> Golden:
        """The golden; raises `GoldenFault` where ours is broken."""
        found = self._cache.get(self._suite, operator, case, trial)
        return found or self._made(operator, case, trial, make_inputs(operator, case, self._seed(case), trial))

    def prepare(self, operator: Operator, case: Case, trial: int, into: Sequence[torch.Tensor]) -> Golden:
        """`fill` and `golden` in one, so that inputs are drawn once."""
        self.fill(operator, case, trial, into)
        return self._cache.get(self._suite, operator, case, trial) or self._made(operator, case, trial, into)

    def _made(self, operator: Operator, case: Case, trial: int, inputs: Sequence[torch.Tensor]) -> Golden:
        found = reference(operator, case, inputs)
        self._cache.put(self._suite, operator, case, trial, found)
        return found

    def _seed(self, case: Case) -> bytes:
        return self._suite.seeds[case.split]

    def results(self, operator: Operator, case: Case) -> tuple[ResultSpec, ...]:
        """What a candidate must return."""
        return result_specs(operator, case)

    def finished(self, operator: Operator, case: Case, outputs: Tensors) -> Tensors | Comparison:  # noqa: ARG002
        """A candidate's outputs as they are compared: here as they are."""
        return outputs

    def ensure(self, operator: Operator, case: Case, trial: int) -> None:
        """Have the golden in the cache, so that no golden is computed while times are taken."""
        self.golden(operator, case, trial)

    def fill(self, operator: Operator, case: Case, trial: int, into: Sequence[torch.Tensor]) -> None:
        """Write the inputs of a trial into the flat list of a buffer's tensors."""
        fill_inputs(operator, case, self._seed(case), trial, into)

    def same_precision(self, operator: Operator, case: Case, trial: int) -> Callable[[], Outputs]:
        """The pinned same-precision run of a trial, made or read when it is asked for."""
        return lambda: self._same_precision(operator, case, trial)

    def _same_precision(self, operator: Operator, case: Case, trial: int) -> Outputs:
        found = self._cache.get_same_precision(self._suite, operator, case, trial)
        if found is None:
            inputs = make_inputs(operator, case, self._seed(case), trial)
            found = self._native.run(operator, case, inputs)
            results = result_specs(operator, case)
            self._cache.put_same_precision(self._suite, operator, case, trial, found, results)
        return found
