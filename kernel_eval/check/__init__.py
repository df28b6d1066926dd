"""Correctness: structure, exact values, relative errors, regions. Imports torch."""

from kernel_eval.check.judge import judge_outputs
from kernel_eval.check.structure import compare_claims

__all__ = ["compare_claims", "judge_outputs"]
