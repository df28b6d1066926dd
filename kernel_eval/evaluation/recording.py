"""Anchors of a hardware: baselines measured and limits computed, as one dated version."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from kernel_eval.errors import NotMeasured, UsageError
from kernel_eval.evaluation.boxes import candidate_box
from kernel_eval.evaluation.environment import environment, now
from kernel_eval.evaluation.session import Session, open_session
from kernel_eval.evaluation.timed import Trial, measure_case
from kernel_eval.golden.baseline import write_baseline_package
from kernel_eval.hap import CpuPeaks
from kernel_eval.model import Anchor, AnchorSet, Case, Event, Operator, Provenance, Report, Suite
from kernel_eval.settings import Settings
from kernel_eval.timing.statistics import median


def record_anchors(
    suite: Suite, settings: Settings, peaks: CpuPeaks, version: str, say: Callable[[str], None]
) -> AnchorSet:
    """Measure the baseline of every case against itself, by the plan that candidates are measured by.

    `say` gets a line per operator. Raises `NotMeasured` where a baseline fails, `UsageError`
    for an imported suite.
    """
    if any(operator.foreign is not None for operator in suite.operators):
        raise UsageError(f"{suite.name} was imported: it has no limits here, so no anchors can be recorded")
    package = settings.work_dir / "recorded"
    write_baseline_package(suite.operators, package)
    anchors: dict[str, Anchor] = {}
    timed = replace(settings, timed=True)
    with (
        candidate_box(package, suite, timed) as box,
        open_session(box, suite, timed, peaks, None, _ignore, _never) as session,
    ):
        for operator in suite.operators:
            cases = suite.cases_of(operator.name)
            anchors |= {case.key: _record(session, operator, case) for case in cases}
            say(f"{operator.name}: {len(cases)} cases")
    return _anchor_set(version, settings, suite.digest, environment(settings, peaks), anchors)


def anchors_of_report(report: Report, version: str) -> AnchorSet:
    """The baselines and limits that an evaluation measured beside its candidate, for the cases that have both."""
    anchors = {}
    for result in (case for operator in report.operators for case in operator.cases):
        if result.baseline is None or result.baseline.median_us is None or result.limit is None:
            continue
        key = f"{result.operator}/{result.split}/{result.case_id}"
        anchors[key] = Anchor(
            result.operator,
            result.split,
            result.case_id,
            result.baseline.median_us,
            result.limit,
            Provenance.MEASURED,
        )
    return AnchorSet(version, report.hardware, report.suite_digest, report.finished_at, report.environment, anchors)


def _record(session: Session, operator: Operator, case: Case) -> Anchor:
    trial = measure_case(session, operator, case)
    if trial.timing.failed:
        wrong = trial.timing.comparison
        raise NotMeasured(f"{case.key}: the baseline {trial.timing.verdict}: {wrong or trial.timing.play}")
    baseline_us = median(list(_samples(trial)))
    return Anchor(operator.name, case.split, case.case_id, baseline_us, trial.limit, Provenance.MEASURED)


def _samples(trial: Trial) -> Iterable[float]:
    yield from trial.timing.candidate_us
    yield from trial.timing.baseline_us


def _anchor_set(
    version: str, settings: Settings, digest: str, facts: dict[str, str], anchors: dict[str, Anchor]
) -> AnchorSet:
    return AnchorSet(version, settings.hardware, digest, now(), facts, anchors)


def _ignore(event: Event) -> None:
    """Recording tells operators, not cases."""


def _never() -> bool:
    return False
