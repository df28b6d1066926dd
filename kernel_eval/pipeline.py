"""One evaluation: build, then per operator correctness, time and score, then the report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import ModuleType

from kernel_eval.build.compile import build_candidate
from kernel_eval.errors import UsageError
from kernel_eval.evaluation.boxes import candidate_box
from kernel_eval.evaluation.interfaces import find_interfaces
from kernel_eval.evaluation.outcome import Opening, begin, finish
from kernel_eval.guard import guarded, mark_package, package_residue, scan_binaries, scan_source
from kernel_eval.hap import CpuPeaks
from kernel_eval.model import (
    AnchorSet,
    Build,
    BuildFinished,
    BuildStarted,
    Candidate,
    Event,
    Flag,
    FlagId,
    Measurement,
    OperatorResult,
    Report,
    Severity,
    Suite,
)
from kernel_eval.settings import Settings


def _never() -> bool:
    return False


def evaluate(
    candidate: Candidate,
    suite: Suite,
    settings: Settings,
    on_event: Callable[[Event], None],
    *,
    peaks: CpuPeaks,
    anchors: AnchorSet | None = None,
    should_stop: Callable[[], bool] = _never,
) -> Report:
    """Judge a candidate on every case of `suite`.

    Whatever the candidate does becomes a verdict in the report. Limits are those
    of `anchors` where given, else made from `peaks`; baselines are always measured
    here. Raises `UsageError` for an empty suite, `InternalError` only for faults of
    ours (`SandboxIncomplete` before any foreign code runs), `EvaluationStopped`
    where `should_stop` says so.
    """
    if not suite.cases:
        raise UsageError(f"{suite.name}: no case to judge")
    opening = begin(suite, settings, peaks, anchors)
    on_event(BuildStarted())
    with loading_torch() as loaded:
        build = build_candidate(candidate, settings, settings.work_dir / "build")
        on_event(BuildFinished(build))
        flags = list(guarded("source", "", lambda: scan_source(candidate.source_dir)))
        if build.package_dir is None:
            return finish(opening, build, _all_unbuilt(opening, build), flags)
        flags += _build_flags(build, build.package_dir)
        operators, residue, control = _judge(opening, build, build.package_dir, loaded, on_event, should_stop)
    return finish(opening, build, operators, [*flags, *residue], control)


@contextmanager
def loading_torch() -> Iterator[Future[ModuleType]]:
    """Load what judging needs, torch above all, beside a build, which mostly waits for its compiler.

    It is loaded already unless the caller has put it off (`later.load_later`). Nothing here may touch torch before
    the result is there.
    """
    with ThreadPoolExecutor(1, "loading") as beside:
        yield beside.submit(import_module, "kernel_eval.evaluation.session")


def _judge(
    opening: Opening,
    build: Build,
    package_dir: Path,
    loaded: Future[ModuleType],
    on_event: Callable[[Event], None],
    should_stop: Callable[[], bool],
) -> tuple[list[OperatorResult], Sequence[Flag], Measurement | None]:
    mark = mark_package(package_dir)
    with candidate_box(package_dir, opening.suite, opening.settings) as box:
        loaded.result()  # not before: the box loads torch at the same time, on another core
        from kernel_eval.evaluation.operators import judge_operators
        from kernel_eval.evaluation.session import open_session

        with open_session(
            box, opening.suite, opening.settings, opening.peaks, opening.anchors, on_event, should_stop
        ) as session:
            matching = find_interfaces(session.candidate, opening.suite.operators)
            on_event(matching.event)
            operators = judge_operators(replace(session, matching=matching), build)
            control = session.stand.control.measurement() if session.stand else None
    residue = guarded("residue", "", lambda: package_residue(mark, package_dir))
    return operators, residue if opening.settings.sandboxed else (), control


def _all_unbuilt(opening: Opening, build: Build) -> list[OperatorResult]:
    from kernel_eval.evaluation.operators import unbuilt_operator

    excerpts, timed = build.set_aside, opening.settings.timed
    return [
        unbuilt_operator(opening.suite, operator, build.message, excerpts.get(operator.name, ""), timed)
        for operator in opening.suite.operators
    ]


def _build_flags(build: Build, package_dir: Path) -> list[Flag]:
    flags = list(guarded("binary", "", lambda: scan_binaries(package_dir)))
    if build.prebuilt:
        message = "a prebuilt wheel was judged; its binaries have no source to compare with"
        flags.append(Flag(FlagId.OPAQUE_BINARY, Severity.REVIEW, "", None, message))
    return flags
