"""Scores: the formulas of cases, operators, levels and boards, each written once. Pure."""

from kernel_eval.score.board import Placed, Row, level_totals, rank, total
from kernel_eval.score.case import CaseScore, Concern, Decision, counted_hap, derived_baseline_us, score_case
from kernel_eval.score.operator import PAPER_WEIGHTS, Weights, failure_message, score_operator
from kernel_eval.score.publish import UNDECIDED, Decisions, Published, publish
from kernel_eval.score.rescore import rescore_operator
from kernel_eval.score.standing import Attempt, Pool, best_pool, exceeds, noise_band
from kernel_eval.score.timed import scored_case, speedup

__all__ = [
    "PAPER_WEIGHTS",
    "UNDECIDED",
    "Attempt",
    "CaseScore",
    "Concern",
    "Decision",
    "Decisions",
    "Placed",
    "Pool",
    "Published",
    "Row",
    "Weights",
    "best_pool",
    "counted_hap",
    "derived_baseline_us",
    "exceeds",
    "failure_message",
    "level_totals",
    "noise_band",
    "publish",
    "rank",
    "rescore_operator",
    "score_case",
    "score_operator",
    "scored_case",
    "speedup",
    "total",
]
