"""Comparing the values of one tensor by the rules of its dtype."""

from __future__ import annotations

from collections.abc import Callable

import torch

from kernel_eval.check.exact import compare_exactly, compare_zeros
from kernel_eval.check.integers import compare_integers
from kernel_eval.check.outcome import TensorOutcome
from kernel_eval.check.relative import compare_floats
from kernel_eval.check.tolerances import Bounds


def compare_values(
    found: torch.Tensor, golden: torch.Tensor, bounds: Bounds, same_precision: Callable[[], torch.Tensor]
) -> TensorOutcome:
    """Judge `found` by `golden`, both contiguous, of one dtype and shape.

    `same_precision` gives the tensor of the golden's run in that dtype; it is
    called at most once, and only where the verdict hangs on it.
    """
    if bounds.tolerance is None:
        return compare_integers(found, golden, bounds.integer_tolerance, same_precision)
    if bounds.signed_zero:
        zeros = compare_zeros(found, golden)
        if not zeros.passed:
            return zeros
    if bounds.tolerance.mean == 0:
        return compare_exactly(found, golden)
    return compare_floats(found, golden, bounds.tolerance, bounds.relief, same_precision)
