"""Goldens and input values of a suite's cases, one object for correctness and timing alike."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from kernel_eval.cases.inputs import fill_inputs, make_inputs
from kernel_eval.golden.cache import GoldenCache
from kernel_eval.golden.call import Golden, reference
from kernel_eval.model import Case, Operator, Suite


class Goldens:
    """Answers for a case and a trial; computed once, then read from the cache on disk. Safe to use from two threads."""

    def __init__(self, suite: Suite, cache: GoldenCache) -> None:
        self._suite = suite
        self._cache = cache

    def golden(self, operator: Operator, case: Case, trial: int) -> Golden:
        """The golden; raises `GoldenFault` where ours is broken."""
        seed = self._suite.seeds[case.split]
        found = self._cache.get(self._suite, operator, case, trial)
        if found is None:
            found = reference(operator, case, make_inputs(operator, case, seed, trial))
            self._cache.put(self._suite, operator, case, trial, found)
        return found

    def ensure(self, operator: Operator, case: Case, trial: int) -> None:
        """Have the golden in the cache, so that reading it later takes no core from a timed process."""
        if not self._cache.contains(self._suite, operator, case, trial):
            self.golden(operator, case, trial)

    def fill(self, operator: Operator, case: Case, trial: int, into: Sequence[torch.Tensor]) -> None:
        """Write the inputs of a trial into the flat list of a buffer's tensors."""
        fill_inputs(operator, case, self._suite.seeds[case.split], trial, into)
