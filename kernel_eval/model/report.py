"""The whole outcome of one evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kernel_eval.model.flag import Flag
from kernel_eval.model.measurement import Measurement
from kernel_eval.model.result import OperatorResult
from kernel_eval.model.verdict import Verdict

STEADY_SPREAD = 0.03
"""A host is steady where half of a control kernel's samples lie within this share of their median."""
LEAST_CONTROLS = 3


@dataclass(frozen=True)
class Report:
    """One evaluation, complete enough to recompute every score from it.

    `environment` names judge, hardware, device, cores, versions; `trusted` is
    False when any part of the sandbox was off. `control` holds the times of a kernel of
    fixed work, taken all through the evaluation.
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
    control: Measurement | None = None

    @property
    def control_spread(self) -> float | None:
        """Median absolute deviation of the control kernel's times, as a share of their median; None of too few."""
        control = self.control
        if control is None or len(control.samples_us) < LEAST_CONTROLS or not control.median_us:
            return None
        return (control.mad_us or 0.0) / control.median_us

    @property
    def inconclusive(self) -> bool:
        """Whether the host wavered while times were taken, or too few were taken to know: scores then move further."""
        spread = self.control_spread
        return self.control is not None and (spread is None or spread > STEADY_SPREAD)
