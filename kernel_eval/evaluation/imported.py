"""Goldens and inputs of an imported suite: whatever its own code says comes out of a box."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence

import torch

from kernel_eval.cases.inputs import fill_inputs, make_inputs
from kernel_eval.errors import GoldenFault, NotMeasured
from kernel_eval.golden.boxed import GoldenBox
from kernel_eval.golden.cache import GoldenCache
from kernel_eval.golden.call import Golden, Outputs
from kernel_eval.model import Case, Comparison, Operator, ResultSpec, Suite, Verdict
from kernel_eval.runner.play import PlayStatus

KEPT_INPUTS = 40
"""Sets of inputs that a hook made and that are kept: those of a case's pool, and the next case's first."""
KEPT_INPUT_BYTES = 256 << 20
Tensors = Sequence[Sequence[torch.Tensor]]


class ImportedGoldens:
    """The same as `Goldens` for operators with foreign code. Safe to use from two threads."""

    def __init__(self, suite: Suite, cache: GoldenCache, box: GoldenBox) -> None:
        self._suite, self._cache, self._box = suite, cache, box
        self._lock = threading.RLock()
        self._inputs: OrderedDict[tuple[str, int], list[torch.Tensor]] = OrderedDict()
        self._raw: dict[str, tuple[ResultSpec, ...]] = {}
        self._compared: dict[str, tuple[ResultSpec, ...]] = {}

    def golden(self, operator: Operator, case: Case, trial: int) -> Golden:
        """What outputs are compared with; raises `GoldenFault` where the suite's code is broken.

        Raises `NotMeasured` where a further trial has outputs of other shapes than the first.
        """
        with self._lock:
            variant = self._variant(operator, case, trial)
            found = self._cache.get(self._suite, operator, case, trial, variant)
            if found is None:
                found = self._computed(operator, case, trial)
                self._cache.put(self._suite, operator, case, trial, found, variant)
            self._compared.setdefault(case.key, found.results)
            if found.results != self._compared[case.key]:
                said = "the shapes of its outputs depend on the data, so it cannot be timed; judge it with --no-perf"
                raise NotMeasured(f"{case.key}: {said}")
            return found

    def ensure(self, operator: Operator, case: Case, trial: int) -> None:
        """Have the golden in the cache."""
        self.golden(operator, case, trial)

    def results(self, operator: Operator, case: Case) -> tuple[ResultSpec, ...]:
        """What a candidate must return: dtypes and shapes of the golden's native run."""
        if not _seen(operator):
            return self.golden(operator, case, 0).results
        with self._lock:
            if case.key not in self._raw:
                inputs, seed = self._given(operator, case, 0), self._seed(case, 0)
                self._raw[case.key] = self._box.results(operator, case, inputs, seed, seen=False)
            return self._raw[case.key]

    def fill(self, operator: Operator, case: Case, trial: int, into: Sequence[torch.Tensor]) -> None:
        """Write the inputs of a trial into the flat list of a buffer's tensors."""
        if not _draws(operator):
            fill_inputs(operator, case, self._suite.seeds[case.split], trial, into)
            return
        for slot, tensor in zip(into, self._given(operator, case, trial), strict=True):
            slot.copy_(tensor)

    def prepare(self, operator: Operator, case: Case, trial: int, into: Sequence[torch.Tensor]) -> Golden:
        """`golden` and `fill` in one."""
        found = self.golden(operator, case, trial)
        self.fill(operator, case, trial, into)
        return found

    def same_precision(self, operator: Operator, case: Case, trial: int) -> Callable[[], Outputs]:
        """The golden's native run, made or read when it is asked for."""
        return lambda: self._same_precision(operator, case, trial)

    def finished(self, operator: Operator, case: Case, outputs: Tensors) -> Tensors | Comparison:
        """A candidate's outputs as they are compared: behind `get_output`, where the suite has one."""
        if not _seen(operator):
            return outputs
        raw = self.results(operator, case)
        found, play = self._box.seen(operator, case, outputs, raw, self.golden(operator, case, 0).results)
        if found is not None:
            return found
        if play.status in (PlayStatus.WRONG_STRUCTURE, PlayStatus.RAISED):
            message = "behind the suite's get_output the outputs have another form than the golden's"
            return Comparison(Verdict.WRONG_VALUES, "get_output", f"{message} {play.detail}".rstrip())
        raise GoldenFault(f"{case.key}: its get_output failed in its box ({play.status}): {play.detail}")

    def _computed(self, operator: Operator, case: Case, trial: int) -> Golden:
        inputs, seed, seen = self._given(operator, case, trial), self._seed(case, trial), _seen(operator)
        results = self._box.results(operator, case, inputs, seed, seen=seen)
        return self._box.reference(operator, case, inputs, seed, results, seen=seen)

    def _same_precision(self, operator: Operator, case: Case, trial: int) -> Outputs:
        variant = self._variant(operator, case, trial)
        found = self._cache.get_same_precision(self._suite, operator, case, trial, variant)
        if found is None:
            inputs, seed = self._given(operator, case, trial), self._seed(case, trial)
            results = self.golden(operator, case, trial).results
            found = self._box.native(operator, case, inputs, seed, results, seen=_seen(operator))
            self._cache.put_same_precision(self._suite, operator, case, trial, found, results, variant)
        return found

    def _given(self, operator: Operator, case: Case, trial: int) -> list[torch.Tensor]:
        """The inputs of a trial, by the suite's own code where it has some."""
        drawn = [] if _module(operator) else make_inputs(operator, case, self._suite.seeds[case.split], trial)
        if not _draws(operator):
            return drawn
        with self._lock:
            key = (case.key, trial)
            if key not in self._inputs:
                self._inputs[key] = self._box.inputs(operator, case, drawn, self._seed(case, trial))
                self._forget()
            self._inputs.move_to_end(key)
            return self._inputs[key]

    def _forget(self) -> None:
        def used() -> int:
            return sum(tensor.nbytes for tensors in self._inputs.values() for tensor in tensors)

        while len(self._inputs) > KEPT_INPUTS or (len(self._inputs) > 1 and used() > KEPT_INPUT_BYTES):
            self._inputs.popitem(last=False)

    def _variant(self, operator: Operator, case: Case, trial: int) -> str:
        """Tells goldens of different inputs apart: only the suite's own code knows whether it repeats them."""
        if not _draws(operator):
            return ""
        total = hashlib.sha256()
        for tensor in self._given(operator, case, trial):
            if tensor.numel():
                total.update(tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
        return total.hexdigest()

    def _seed(self, case: Case, trial: int) -> int:
        text = f"/{case.key}/{trial}/foreign".encode()
        return int.from_bytes(hashlib.sha256(self._suite.seeds[case.split] + text).digest()[:4], "big")


def _draws(operator: Operator) -> bool:
    return operator.foreign is not None and operator.foreign.draws_inputs


def _module(operator: Operator) -> bool:
    return operator.foreign is not None and operator.foreign.module


def _seen(operator: Operator) -> bool:
    return operator.foreign is not None and operator.foreign.outputs
