"""An index output from its declaration to its outcome: which tensor, which values, how equal they must be."""

from __future__ import annotations

from dataclasses import replace

import torch

from kernel_eval.check.called import Called
from kernel_eval.check.indices import Indexed, indexed, judge_computed, judge_positions, judge_values, reduced
from kernel_eval.check.outcome import TensorOutcome
from kernel_eval.check.tolerances import Bounds, Tolerance
from kernel_eval.errors import GoldenFault
from kernel_eval.model import IndexRule


def compare_indices(
    found: torch.Tensor,
    golden: torch.Tensor,
    rule: IndexRule,
    called: Called,
    values: torch.Tensor | None,
    bounds: Bounds,
) -> TensorOutcome:
    """Judge the indices `found`.

    `values` is the golden of the output that holds the values, `bounds` are that
    output's; None where the rule names a reduction. Values of an input are copies
    and must be equal; those of a table were computed, so they may differ as
    rounding makes them. Raises `GoldenFault` where the declaration does not fit.
    """
    table = called.tensor(rule.into) if rule.into else called.ask(rule.table, raised=True)
    axis = None if rule.axis is None else called.axis(rule.axis)
    seen = indexed(found, golden, table, axis)
    if values is not None and values.shape != found.shape:
        raise GoldenFault(f"{called.folder.name}: {rule.values} has another shape than the indices beside it")
    wanted = _wanted(seen, rule, values, called)
    tolerance = bounds.tolerance if rule.table else None
    if rule.table and (table.dtype != torch.float64 or tolerance is None):
        raise GoldenFault(f"{called.folder.name}: {rule.table} must give FP64, and {rule.values} must be a float")
    outcome = _judge(seen, rule, wanted, tolerance)
    if not outcome.passed:
        own = _judge(replace(seen, found=seen.golden), rule, wanted, tolerance)
        if not own.passed:
            raise GoldenFault(f"{called.folder.name}: the golden's own indices break {own.rule}: {own.message}")
    return outcome


def _judge(seen: Indexed, rule: IndexRule, wanted: torch.Tensor, tolerance: Tolerance | None) -> TensorOutcome:
    refused = judge_positions(seen, distinct=rule.distinct, up_to_position=rule.up_to_position)
    if refused is not None or not seen.found.numel() or not seen.size:
        return refused or TensorOutcome(True, "index", figures={"elements": seen.found.numel()})
    return judge_values(seen, wanted) if tolerance is None else judge_computed(seen, wanted, tolerance)


def _wanted(seen: Indexed, rule: IndexRule, values: torch.Tensor | None, called: Called) -> torch.Tensor:
    """The value that each index must find."""
    if rule.reduction is not None:
        return reduced(seen, rule.reduction)
    if values is None:
        raise GoldenFault(f"{called.folder.name}: there are neither values nor a reduction for the indices")
    if rule.into and values.dtype != seen.table.dtype:
        raise GoldenFault(f"{called.folder.name}: {rule.values} has another dtype than {rule.into}")
    return values
