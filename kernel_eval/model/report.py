"""The whole outcome of one evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kernel_eval.model.flag import Flag
from kernel_eval.model.result import OperatorResult
from kernel_eval.model.verdict import Verdict


@dataclass(frozen=True)
class Report:
    """One evaluation, complete enough to recompute every score from it.

    `environment` names judge, hardware, device, cores, versions; `trusted` is
    False when any part of the sandbox was off.
    """

    evaluation: str
    suite: str
    suite_version: str
    suite_digest: str
    hidden_digest: str | None
    hardware: str
    anchors_version: str
    rules_version: str
    limit_preset: str
    started_at: str
    finished_at: str
    trusted: bool
    timed: bool
    verdict: Verdict
    build_seconds: float
    build_log: str
    message: str
    environment: Mapping[str, str]
    operators: tuple[OperatorResult, ...]
    level_scores: Mapping[str, float]
    total_score: float | None
    flags: tuple[Flag, ...] = ()
