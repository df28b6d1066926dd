"""An index output from its declaration to its outcome: which tensor, which values, how equal they must be."""

from __future__ import annotations

import torch

from kernel_eval.check.called import Called
from kernel_eval.check.indices import indexed, judge_computed, judge_positions, judge_values, reduced
from kernel_eval.check.outcome import TensorOutcome
from kernel_eval.check.tolerances import Bounds
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
    refused = judge_positions(seen, distinct=rule.distinct, up_to_position=rule.up_to_position)
    if refused is not None or not found.numel() or not seen.size:
        return refused or TensorOutcome(True, "index", figures={"elements": found.numel()})
    if rule.reduction is not None:
        return judge_values(seen, reduced(seen, rule.reduction))
    if values is None or values.numel() != found.numel():
        raise GoldenFault(f"{called.folder.name}: there is no value of {rule.values} for every index")
    if rule.into:
        if values.dtype != table.dtype:
            raise GoldenFault(f"{called.folder.name}: {rule.values} has another dtype than {rule.into}")
        return judge_values(seen, values)
    if table.dtype != torch.float64 or bounds.tolerance is None:
        raise GoldenFault(f"{called.folder.name}: {rule.table} must give FP64, and {rule.values} must be a float")
    return judge_computed(seen, values, bounds.tolerance)
