"""The pictures of the page, as inline SVG: the three axes of an operator, the times of its cases."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape

from kernel_eval.model import CaseResult, Measurement, OperatorResult
from kernel_eval.report.figures import limit_us, microseconds, points, ratio

WIDTH = 1000.0
LEFT, RIGHT = 110.0, 90.0
ROW = 16.0


def axes_bar(operator: OperatorResult) -> str:
    """Compile, correct and performance points of an operator as one bar of 100."""
    parts = (
        ("compile", operator.compile_points),
        ("correct", operator.correct_points),
        ("speed", operator.performance_points),
    )
    label = ", ".join(f"{name} {points(value)}" for name, value in parts)
    bars, at = [], 0.0
    for name, value in parts:
        width = 2.0 * max(value or 0.0, 0.0)
        bars.append(f'<rect class="bar-{name}" x="{at:.1f}" y="2" width="{width:.1f}" height="10"/>')
        at += width
    return (
        f'<svg viewBox="0 0 200 14" width="200" role="img" aria-label="{escape(label)}"><title>{escape(label)}</title>'
        f'<rect class="track" x="0" y="2" width="200" height="10"/>{"".join(bars)}</svg>'
    )


def times_chart(cases: Sequence[CaseResult]) -> str:
    """Limit, candidate with its spread, and baseline of every case on one log axis of µs; the verdict where refused."""
    times = [time for case in cases for time in _times(case)]
    if not times:
        return ""
    scale = _Scale(min(times), max(times))
    height = ROW * (len(cases) + 2)
    rows = "".join(_row(case, scale, ROW * (at + 1.5)) for at, case in enumerate(cases))
    return (
        f'<svg viewBox="0 0 {WIDTH:.0f} {height:.0f}" role="img" aria-label="time per case in microseconds">'
        f"{scale.grid(height)}{rows}</svg>"
    )


def _times(case: CaseResult) -> Iterable[float]:
    for time in (limit_us(case), _median(case.candidate), _median(case.baseline)):
        if time is not None and math.isfinite(time) and time > 0:
            yield time


def _median(measurement: Measurement | None) -> float | None:
    return measurement.median_us if measurement else None


class _Scale:
    def __init__(self, low: float, high: float) -> None:
        self.low = math.floor(math.log10(low))
        self.high = max(math.ceil(math.log10(high)), self.low + 1)

    def __call__(self, time_us: float) -> float:
        at = (math.log10(time_us) - self.low) / (self.high - self.low)
        return LEFT + min(max(at, 0.0), 1.0) * (WIDTH - LEFT - RIGHT)

    def grid(self, height: float) -> str:
        lines = []
        for power in range(self.low, self.high + 1):
            x = self(10.0**power)
            lines.append(f'<line class="rule" x1="{x:.1f}" x2="{x:.1f}" y1="{ROW:.0f}" y2="{height - ROW / 2:.0f}"/>')
            lines.append(f'<text x="{x:.1f}" y="11" text-anchor="middle">{microseconds(10.0**power)} µs</text>')
        return "".join(lines)


def _row(case: CaseResult, scale: _Scale, y: float) -> str:
    name = f"{case.split} {case.case_id}"
    label = f'<text x="0" y="{y + 4:.1f}">{escape(name)}</text>'
    if not case.accepted:
        word = escape(str(case.verdict))
        dot = f'<circle class="miss" cx="{LEFT - 12:.0f}" cy="{y:.1f}" r="3"/>'
        return f'{label}{dot}<text x="{LEFT:.0f}" y="{y + 4:.1f}">{word}</text>'
    marks = [label]
    for css, time in (("limit", limit_us(case)), ("baseline", _median(case.baseline))):
        if time and time > 0:
            x = scale(time)
            marks.append(f'<line class="{css}" x1="{x:.1f}" x2="{x:.1f}" y1="{y - 5:.1f}" y2="{y + 5:.1f}"/>')
    marks.append(_candidate(case, scale, y))
    return f"<g><title>{escape(_words(case, name))}</title>{''.join(marks)}</g>"


def _candidate(case: CaseResult, scale: _Scale, y: float) -> str:
    median = _median(case.candidate)
    if case.candidate is None or not median or median <= 0:
        return ""
    low, high = min(case.candidate.samples_us), max(case.candidate.samples_us)
    text = f'<text x="{WIDTH - RIGHT + 10:.0f}" y="{y + 4:.1f}">HAP {ratio(case.hap)}</text>'
    spread = f'<line class="spread" x1="{scale(max(low, 1e-9)):.1f}" x2="{scale(high):.1f}" y1="{y:.1f}" y2="{y:.1f}"/>'
    return f'{spread}<circle class="candidate" cx="{scale(median):.1f}" cy="{y:.1f}" r="3.5"/>{text}'


def _words(case: CaseResult, name: str) -> str:
    limit = microseconds(limit_us(case))
    return (
        f"{name}: {microseconds(_median(case.candidate))} µs, baseline {microseconds(_median(case.baseline))} µs, "
        f"limit {limit} µs, HAP {ratio(case.hap)}"
    )
