"""Correctness: structure, exact values, relative errors, regions, indices, sets, state. Imports torch."""

from kernel_eval.check.called import Called, called_with
from kernel_eval.check.judge import judge_outputs
from kernel_eval.check.structure import compare_claims

__all__ = ["Called", "called_with", "compare_claims", "judge_outputs"]
