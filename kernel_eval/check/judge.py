"""All outputs of one call against their golden."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

import torch

from kernel_eval.check.allclose import allclose_bound, compare_allclose
from kernel_eval.check.exact import compare_exactly, compare_integers
from kernel_eval.check.outcome import TensorOutcome
from kernel_eval.check.relative import compare_floats
from kernel_eval.check.structure import compare_tensors
from kernel_eval.check.tolerances import Tolerance, tolerance_for
from kernel_eval.model import Comparator, Comparison, Operator, ResultSpec, Verdict, Worst

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
    operator: Operator, golden: GoldenLike, outputs: Tensors, same_precision: Callable[[], Tensors]
) -> Comparison:
    """Judge all outputs of one call (`judging.md` section 1).

    `same_precision` runs the golden in the native dtypes; it is called at most
    once, and only where a verdict hangs on it. The first output that fails
    decides; where none does, the figures are those of the worst tensor.
    Raises `InternalError` for a dtype without a tolerance.
    """
    refused = compare_tensors(outputs, golden.results)
    if refused is not None:
        return refused
    peers = _Once(same_precision)
    accepted: list[Comparison] = []
    for position, spec in enumerate(operator.outputs):
        if spec.comparator is Comparator.IGNORED:
            continue
        for index, (found, wanted) in enumerate(zip(outputs[position], golden.tensors[position], strict=True)):
            declared = golden.results[position].tensors[index].dtype
            comparison = _compare(operator, found, wanted, declared, peers, (position, index))
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


def _compare(
    operator: Operator, found: torch.Tensor, golden: torch.Tensor, declared: str, peers: _Once, place: tuple[int, int]
) -> Comparison:
    """Judge one tensor of the `declared` dtype; `place` is its output and its index there."""
    position, index = place
    if not found.dtype.is_floating_point:
        return _comparison(operator, compare_integers(found, golden), None, (found, golden), place)
    if operator.outputs[position].comparator is Comparator.ALLCLOSE:
        bound = allclose_bound(declared)
        outcome = compare_allclose(found, golden, bound)
        return replace(_comparison(operator, outcome, None, (found, golden), place), threshold=bound)
    tolerance = tolerance_for(operator, declared)
    if tolerance.mean == 0:
        return _comparison(operator, compare_exactly(found, golden), tolerance, (found, golden), place)
    relief = operator.same_precision_relief
    outcome = compare_floats(found, golden, tolerance, relief, lambda: peers()[position][index])
    return _comparison(operator, outcome, tolerance, (found, golden), place)


def _comparison(
    operator: Operator,
    outcome: TensorOutcome,
    tolerance: Tolerance | None,
    pair: tuple[torch.Tensor, torch.Tensor],
    place: tuple[int, int],
) -> Comparison:
    return Comparison(
        verdict=Verdict.ACCEPTED if outcome.passed else Verdict.WRONG_VALUES,
        rule=outcome.rule,
        message=f"{_name(operator, pair, place)}: {outcome.message}" if outcome.message else "",
        mean_re=outcome.mean,
        max_re=outcome.largest,
        threshold=None if tolerance is None else tolerance.mean,
        relaxed=tolerance is not None and tolerance.relaxed,
        regions=outcome.regions,
        worst=_worst(outcome, pair, place),
    )


def _name(operator: Operator, pair: tuple[torch.Tensor, torch.Tensor], place: tuple[int, int]) -> str:
    spec = operator.outputs[place[0]]
    dtype = str(pair[0].dtype).removeprefix("torch.")
    return f"{spec.name}[{place[1]}] ({dtype})" if spec.tensor_list else f"{spec.name} ({dtype})"


def _worst(outcome: TensorOutcome, pair: tuple[torch.Tensor, torch.Tensor], place: tuple[int, int]) -> Worst | None:
    if outcome.worst is None:
        return None
    found, golden = (float(tensor.reshape(-1)[outcome.worst].item()) for tensor in pair)
    return Worst(output=place[0], tensor=place[1], index=outcome.worst, golden=golden, found=found)


def _badness(comparison: Comparison) -> tuple[bool, float]:
    """Orders accepted tensors: those that needed the regions last, then by their largest error."""
    return bool(comparison.regions), comparison.max_re or 0.0
