"""Shows an evaluation's events: a bar on a terminal, plain lines otherwise. Always on standard error."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

from kernel_eval.model import (
    BuildFinished,
    BuildStarted,
    CaseJudged,
    CaseTimed,
    Event,
    InterfacesFound,
    OperatorFinished,
    OperatorResult,
    OperatorStarted,
)
from kernel_eval.report.figures import points, ratio


class Display(Protocol):
    """A listener for events that may own the terminal while it is open."""

    def __call__(self, event: Event) -> None:
        """Show one event."""

    def __enter__(self) -> Self:
        """Take the terminal."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give the terminal back."""


def open_display(cases: int, timed: bool, verbose: bool) -> Display:
    """A bar where standard error is a terminal, lines otherwise."""
    console = Console(stderr=True, highlight=False)
    steps = cases * (2 if timed else 1)
    return _Bar(console, steps, timed) if console.is_terminal else _Lines(console, verbose)


class _Lines:
    def __init__(self, console: Console, verbose: bool) -> None:
        self._console = console
        self._verbose = verbose
        self._started = time.monotonic()

    def __call__(self, event: Event) -> None:
        line = _line(event, self._verbose)
        if line:
            seconds = time.monotonic() - self._started
            self._console.print(f"[{seconds:7.1f} s] {line}", markup=False, soft_wrap=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None


class _Bar:
    """One bar over all cases; an accepted case counts twice when times are taken."""

    def __init__(self, console: Console, steps: int, timed: bool) -> None:
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
        )
        self._progress = Progress(*columns, console=console, transient=True)
        self._timed = timed
        self._task = self._progress.add_task("build", total=steps)

    def __call__(self, event: Event) -> None:
        match event:
            case OperatorStarted():
                self._progress.update(self._task, description=event.operator)
            case CaseJudged():
                self._progress.advance(self._task, 1 if event.result.accepted or not self._timed else 2)
            case CaseTimed():
                self._progress.advance(self._task)
        line = _line(event, False)
        if line:
            self._progress.console.print(line, markup=False, soft_wrap=True)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()


def _line(event: Event, verbose: bool) -> str:
    match event:
        case BuildStarted():
            return "building"
        case BuildFinished(build=build):
            return f"built in {build.seconds:.1f} s" if build.succeeded else f"build failed: {build.message}"
        case InterfacesFound():
            return _interfaces(event)
        case OperatorStarted():
            return f"{event.operator}: {event.cases} cases ({event.position} of {event.total})"
        case CaseJudged(result=result) if verbose or not result.accepted:
            said = f": {result.rule} {result.message}".rstrip()
            return f"  {result.split} {result.case_id}: {result.verdict}{said}"[:300]
        case CaseTimed(result=result) if verbose and result.candidate and result.candidate.median_us:
            return f"  {result.split} {result.case_id}: {result.candidate.median_us:.4g} µs"
        case OperatorFinished(result=operator):
            return _finished(operator)
    return ""


def _interfaces(event: InterfacesFound) -> str:
    """Every interface on a line of its own, then what is missing."""
    if event.fault:
        return f"interfaces cannot be listed: {event.fault}"
    lines = [f"{len(event.interfaces)} interfaces found", *(f"  {interface}" for interface in event.interfaces)]
    if event.nothing_matches:
        lines.append("warning: no interface matches an operator of the suite; nothing can be judged")
    elif event.missing:
        lines.append(f"warning: no interface for {', '.join(event.missing)}")
    return "\n".join(lines)


def _finished(operator: OperatorResult) -> str:
    accepted = sum(case.accepted for case in operator.cases)
    return (
        f"{operator.operator}: {operator.verdict}, {accepted}/{len(operator.cases)} accepted, "
        f"score {points(operator.score)}, speed-up {ratio(operator.speedup)}"
    )
