"""The case strip: one row per case on a common log axis, with limit, baseline and the candidate's time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from app.web.figures import hap, microseconds
from app.web.svg.markup import Gettext, element, picture, text
from app.web.svg.scale import LogScale, hap_class, log_scale

WIDTH: Final = 1056.0
LETTER_WIDTH: Final = 7.0
FIGURE_WIDTH: Final = 112.0
ROW: Final = 20.0
HEAD: Final = 32.0
FOOT: Final = 24.0
DOT: Final = 4.5
TICK: Final = 6.0


@dataclass(frozen=True)
class StripRow:
    """One case: what it is, its three times in µs, and a glyph with its word where the case failed."""

    label: str
    size: int
    limit_us: float | None
    baseline_us: float | None
    candidate_us: float | None
    interval_us: tuple[float, float] | None
    hap: float | None
    glyph: str
    word: str
    accepted: bool


def case_strip(title: str, rows: Sequence[StripRow], _: Gettext) -> Markup:
    """The strip, smallest case on top; an empty picture where there is no case."""
    ordered = sorted(rows, key=lambda row: (row.size, row.label))
    left = LETTER_WIDTH * max((len(row.label) for row in ordered), default=0) + 16
    scale = log_scale(_times(ordered), left, WIDTH - left - FIGURE_WIDTH)
    bottom = HEAD + ROW * len(ordered)
    parts = [_axis(scale, bottom, _)]
    parts.extend(_row(row, HEAD + ROW * index, scale, _) for index, row in enumerate(ordered))
    return picture(title, WIDTH, bottom + FOOT, *parts, class_="case-strip")


def _times(rows: Sequence[StripRow]) -> list[float]:
    values: list[float] = []
    for row in rows:
        values.extend(value for value in (row.limit_us, row.baseline_us, row.candidate_us) if value is not None)
        values.extend(row.interval_us or ())
    return values


def _axis(scale: LogScale, bottom: float, _: Gettext) -> Markup:
    lines = [
        element(
            "g",
            element("line", x1=scale.position(tick), x2=scale.position(tick), y1=HEAD - 6, y2=bottom, class_="grid"),
            text(f"{tick:g}", scale.position(tick), bottom + 16, class_="tick", anchor="middle"),
        )
        for tick in scale.ticks()
    ]
    heads = (
        text(_("Case"), 0, 16, class_="head"),
        text(_("Time per call in µs, log scale"), scale.start, 16, class_="head"),
        text(_("µs"), WIDTH - 48, 16, class_="head", anchor="end"),
        text("HAP", WIDTH, 16, class_="head", anchor="end"),
    )
    return element("g", *lines, *heads, class_="axis")


def _row(row: StripRow, top: float, scale: LogScale, _: Gettext) -> Markup:
    middle = top + ROW / 2
    parts = [
        element("line", x1=0, x2=WIDTH, y1=top + ROW, y2=top + ROW, class_="rule"),
        text(row.label, 0, middle + 4, class_="label"),
    ]
    if row.limit_us is not None:
        parts.append(_tick(scale.position(row.limit_us), middle, "limit-tick"))
    if row.baseline_us is not None:
        parts.append(_tick(scale.position(row.baseline_us), middle, "baseline-tick"))
    parts.extend(_candidate(row, middle, scale) if row.accepted else _failure(row, middle, scale))
    return element("g", element("title", _sentence(row, _)), *parts, class_="case-row")


def _tick(x: float, middle: float, class_: str) -> Markup:
    return element("line", x1=x, x2=x, y1=middle - TICK, y2=middle + TICK, class_=class_)


def _candidate(row: StripRow, middle: float, scale: LogScale) -> list[Markup]:
    if row.candidate_us is None:
        return [text(row.glyph, scale.start, middle + 4, class_="glyph")]
    parts: list[Markup] = []
    if row.interval_us is not None:
        low, high = (scale.position(value) for value in row.interval_us)
        parts.append(element("line", x1=low, x2=high, y1=middle, y2=middle, class_="interval"))
    colour = hap_class(row.hap)
    parts.append(element("circle", cx=scale.position(row.candidate_us), cy=middle, r=DOT, class_=f"dot {colour}"))
    figure = microseconds(row.candidate_us, row.interval_us)
    parts.append(text(figure, WIDTH - 48, middle + 4, class_="figure", anchor="end"))
    parts.append(text(hap(row.hap), WIDTH, middle + 4, class_="figure", anchor="end"))
    return parts


def _failure(row: StripRow, middle: float, scale: LogScale) -> list[Markup]:
    anchor = scale.start + 8 if row.baseline_us is None else scale.position(row.baseline_us) + 12
    return [
        text(row.glyph, anchor, middle + 5, class_="glyph failed"),
        text(row.word, WIDTH, middle + 4, class_="failed", anchor="end"),
    ]


def _sentence(row: StripRow, _: Gettext) -> str:
    if not row.accepted:
        return _("{case}: {word}").format(case=row.label, word=row.word)
    return _("{case}: {time} µs, limit {limit} µs, baseline {baseline} µs, HAP {hap}").format(
        case=row.label,
        time=microseconds(row.candidate_us, row.interval_us),
        limit=microseconds(row.limit_us),
        baseline=microseconds(row.baseline_us),
        hap=hap(row.hap),
    )
