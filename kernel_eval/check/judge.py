"""All outputs of one call against their golden."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

import torch

from kernel_eval.check.allclose import allclose_bound, compare_allclose
from kernel_eval.check.called import Called
from kernel_eval.check.outcome import TensorOutcome
from kernel_eval.check.pointed import compare_indices
from kernel_eval.check.stateful import compare_stateful
from kernel_eval.check.structure import compare_tensors
from kernel_eval.check.tolerances import EXACT, Bounds, bounds_for
from kernel_eval.check.unordered import compare_sets
from kernel_eval.check.values import compare_values
from kernel_eval.errors import InternalError
from kernel_eval.model import (
    Comparator,
    Comparison,
    IndexRule,
    Operator,
    OutputSpec,
    ResultSpec,
    SetRule,
    StatefulRule,
    Verdict,
    Worst,
)

Tensors = Sequence[Sequence[torch.Tensor]]


class GoldenLike(Protocol):
    """The right answer: one tuple of tensors per declared output, and what is declared of them."""

    @property
    def tensors(self) -> Tensors:
        """Goldens in the declared dtypes."""

    @property
    def results(self) -> Sequence[ResultSpec]:
        """Declared dtypes and shapes."""


def judge_outputs(
    operator: Operator,
    golden: GoldenLike,
    outputs: Tensors,
    same_precision: Callable[[], Tensors],
    called: Called | None = None,
) -> Comparison:
    """Judge all outputs of one call (`judging.md` section 1).

    `same_precision` runs the golden in the native dtypes; it is called at most
    once, and only where a verdict hangs on it. `called` says what the operator was
    called with, which index and stateful outputs need. The first output that fails
    decides; where none does, the figures are those of the worst tensor.
    Raises `InternalError` for a dtype without a tolerance, and `GoldenFault` where
    a declaration does not fit the golden.
    """
    refused = compare_tensors(outputs, golden.results)
    if refused is not None:
        return refused
    judge = _Judge(operator, golden, _Once(same_precision), called)
    accepted: list[Comparison] = []
    for position, spec in enumerate(operator.outputs):
        if spec.comparator is Comparator.IGNORED:
            continue
        for index, found in enumerate(outputs[position]):
            comparison = judge.compare(found, position, index)
            if not comparison.accepted:
                return comparison
            accepted.append(comparison)
    return max(accepted, key=_badness, default=Comparison(Verdict.ACCEPTED, "structure"))


class _Once:
    """The same-precision run of a case, made when it is first asked for."""

    def __init__(self, run: Callable[[], Tensors]) -> None:
        self._run = run
        self._outputs: Tensors | None = None

    def __call__(self) -> Tensors:
        if self._outputs is None:
            self._outputs = self._run()
        return self._outputs


class _Judge:
    """Compares single tensors of one call."""

    def __init__(self, operator: Operator, golden: GoldenLike, peers: _Once, called: Called | None) -> None:
        self._operator, self._golden, self._peers, self._called = operator, golden, peers, called

    def compare(self, found: torch.Tensor, position: int, index: int) -> Comparison:
        """The comparison of tensor `index` of the output at `position`."""
        spec, wanted = self._operator.outputs[position], self._golden.tensors[position][index]
        if isinstance(spec.rule, IndexRule):
            bounds = self._bounds_of_values(spec.rule)
            outcome = compare_indices(found, wanted, spec.rule, self._call(spec), self._values(spec.rule), bounds)
        elif spec.comparator is Comparator.ALLCLOSE and found.dtype.is_floating_point:
            bound = allclose_bound(self._golden.results[position].tensors[index].dtype)
            outcome = compare_allclose(found, wanted, bound)
            compared = _comparison(self._operator, outcome, EXACT, (found, wanted), (position, index))
            return replace(compared, threshold=bound)
        else:
            bounds = self._bounds(position, index)
            outcome = self._by_values(found, wanted, spec, bounds, (position, index))
        return _comparison(self._operator, outcome, bounds, (found, wanted), (position, index))

    def _by_values(
        self, found: torch.Tensor, wanted: torch.Tensor, spec: OutputSpec, bounds: Bounds, place: tuple[int, int]
    ) -> TensorOutcome:
        def peer() -> torch.Tensor:
            return self._peers()[place[0]][place[1]]

        if isinstance(spec.rule, SetRule):
            axis = spec.rule.axis
            resolved = self._call(spec).axis(axis) if isinstance(axis, str) else axis
            return compare_sets(found, wanted, resolved, bounds, peer)
        if isinstance(spec.rule, StatefulRule):
            call, rule = self._call(spec), spec.rule
            mask = call.ask(rule.touched, raised=False) if rule.touched else None
            return compare_stateful(found, wanted, call.tensor(rule.of, place[1]), mask, bounds, peer)
        return compare_values(found, wanted, bounds, peer)

    def _bounds(self, position: int, index: int) -> Bounds:
        declared = self._golden.results[position].tensors[index].dtype
        return bounds_for(self._operator, self._operator.outputs[position], declared)

    def _bounds_of_values(self, rule: IndexRule) -> Bounds:
        """What is copied from an input must be equal; what was computed is judged like the values beside it."""
        return self._bounds(self._place_of(rule.values), 0) if rule.table and rule.values else EXACT

    def _values(self, rule: IndexRule) -> torch.Tensor | None:
        return self._golden.tensors[self._place_of(rule.values)][0] if rule.values else None

    def _place_of(self, name: str) -> int:
        names = [spec.name for spec in self._operator.outputs]
        if name not in names:
            raise InternalError(f"{self._operator.name}: an index output names the values {name}, which is no output")
        return names.index(name)

    def _call(self, spec: OutputSpec) -> Called:
        if self._called is None:
            raise InternalError(f"{self._operator.name}: judging {spec.name} needs what the operator was called with")
        return self._called


def _comparison(
    operator: Operator,
    outcome: TensorOutcome,
    bounds: Bounds,
    pair: tuple[torch.Tensor, torch.Tensor],
    place: tuple[int, int],
) -> Comparison:
    return Comparison(
        verdict=Verdict.ACCEPTED if outcome.passed else Verdict.WRONG_VALUES,
        rule=outcome.rule,
        message=f"{_name(operator, pair, place)}: {outcome.message}" if outcome.message else "",
        mean_re=outcome.mean,
        max_re=outcome.largest,
        threshold=bounds.threshold,
        relaxed=bounds.relaxed,
        regions=outcome.regions,
        worst=_worst(outcome, pair, place),
        figures=outcome.figures,
    )


def _name(operator: Operator, pair: tuple[torch.Tensor, torch.Tensor], place: tuple[int, int]) -> str:
    spec = operator.outputs[place[0]]
    dtype = str(pair[0].dtype).removeprefix("torch.")
    return f"{spec.name}[{place[1]}] ({dtype})" if spec.tensor_list else f"{spec.name} ({dtype})"


def _worst(outcome: TensorOutcome, pair: tuple[torch.Tensor, torch.Tensor], place: tuple[int, int]) -> Worst | None:
    if outcome.worst is None:
        return None
    found, golden = (float(tensor.reshape(-1)[outcome.worst].item()) for tensor in pair)
    wanted = golden if outcome.against is None else outcome.against
    return Worst(output=place[0], tensor=place[1], index=outcome.worst, golden=wanted, found=found)


def _badness(comparison: Comparison) -> tuple[bool, float]:
    """Orders accepted tensors: those that needed the regions last, then by their largest error."""
    return bool(comparison.regions), comparison.max_re or 0.0
