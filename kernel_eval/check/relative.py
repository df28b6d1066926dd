"""Comparison of one float tensor by relative error (`judging.md` section 1, rules 3 to 6)."""

from __future__ import annotations

from collections.abc import Callable

import torch

from kernel_eval.check.measure import Measured, measure
from kernel_eval.check.outcome import TensorOutcome
from kernel_eval.check.regions import judge_regions, measure_peer
from kernel_eval.check.screen import first_screen
from kernel_eval.check.tolerances import Tolerance


def compare_floats(
    found: torch.Tensor,
    golden: torch.Tensor,
    tolerance: Tolerance,
    relief: bool,
    same_precision: Callable[[], torch.Tensor],
) -> TensorOutcome:
    """Judge `found` by `golden`, both of the declared dtype and one shape.

    `same_precision` gives the tensor of the golden's run in that dtype; it is
    called at most once, and only where the verdict hangs on it.
    """
    left, right = found.reshape(-1), golden.reshape(-1)
    passed = first_screen(left, right, tolerance)
    if passed is not None:
        return passed
    measured = measure(left, right, tolerance)
    special = _special(measured)
    if special is not None:
        return special
    if measured.mean < tolerance.mean and not measured.failing:
        return TensorOutcome(
            True, "first_screen", mean=measured.mean, largest=measured.largest, worst=measured.largest_at
        )
    return judge_regions(
        measured, tolerance, relief, lambda: measure_peer(same_precision().reshape(-1), left, right, tolerance)
    )


def _special(measured: Measured) -> TensorOutcome | None:
    """A refusal by rule 3."""
    if measured.nan_mismatch_at is not None:
        at = measured.nan_mismatch_at
        return TensorOutcome(False, "special.nan", f"NaN on one side only, first at element {at}", worst=at)
    if measured.opposite_infinity_at is not None:
        at = measured.opposite_infinity_at
        return TensorOutcome(
            False, "special.infinity", f"an infinity of the wrong sign, first at element {at}", worst=at
        )
    return None
