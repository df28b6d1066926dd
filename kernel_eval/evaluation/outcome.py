"""From all that was found to the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kernel_eval.evaluation.environment import environment, evaluation_code, now
from kernel_eval.hap import CPU_PRESET, CpuPeaks
from kernel_eval.model import AnchorSet, Build, Flag, Measurement, OperatorResult, Report, Suite, strongest
from kernel_eval.score import level_totals, total
from kernel_eval.settings import RULES_VERSION, Settings

LOG_BYTES = 256 << 10
"""Of a longer build log the report keeps the end."""
MEASURED_HERE = "measured-here"
"""Stands for the anchors' version where baselines and limits were taken in this evaluation alone."""


@dataclass(frozen=True)
class Opening:
    """What is known when an evaluation begins."""

    suite: Suite
    settings: Settings
    peaks: CpuPeaks
    anchors: AnchorSet | None
    code: str
    started_at: str


def begin(suite: Suite, settings: Settings, peaks: CpuPeaks, anchors: AnchorSet | None) -> Opening:
    """Name the evaluation and note the time."""
    return Opening(suite, settings, peaks, anchors, evaluation_code(), now())


def finish(
    opening: Opening,
    build: Build,
    operators: Sequence[OperatorResult],
    flags: Sequence[Flag],
    control: Measurement | None = None,
) -> Report:
    """The report. The total is None where some operator has no score."""
    suite, settings = opening.suite, opening.settings
    levels = level_totals((operator.level, operator.score) for operator in operators)
    complete = bool(operators) and all(operator.score is not None for operator in operators)
    return Report(
        evaluation=opening.code,
        suite=suite.name,
        suite_version=suite.version,
        suite_digest=suite.digest,
        hidden_digest=suite.hidden_digest,
        hardware=settings.hardware,
        anchors_version=opening.anchors.version if opening.anchors else MEASURED_HERE,
        rules_version=RULES_VERSION,
        limit_preset=CPU_PRESET,
        started_at=opening.started_at,
        finished_at=now(),
        trusted=settings.sandboxed,
        timed=settings.timed,
        verdict=strongest(operator.verdict for operator in operators),
        build_seconds=build.seconds,
        build_log=build.log[-LOG_BYTES:].decode("utf-8", "replace").replace("\0", "�"),
        message=build.message,
        environment=environment(settings, opening.peaks),
        operators=tuple(operators),
        level_scores={str(level): score for level, score in levels.items()},
        total_score=total(levels) if complete else None,
        flags=tuple(flags),
        control=control,
    )
