"""The heat map: operators down, entries across, coloured by HAP, with a glyph where cases failed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from app.web.figures import hap
from app.web.svg.markup import Gettext, element, picture, text
from app.web.svg.scale import hap_class

LETTER_WIDTH: Final = 7.0
LEVEL_WIDTH: Final = 32.0
MOST_CELL_WIDTH: Final = 96.0
LEAST_CELL_WIDTH: Final = 44.0
MAP_WIDTH: Final = 1144.0
ROW: Final = 26.0
HEAD: Final = 30.0
SLANTED_HEAD: Final = 80.0
SLANT_BELOW: Final = 80.0
SLANT_ROOM: Final = 56.0
LEGEND: Final = 44.0
LEGEND_WIDTH: Final = 480.0
CELL_GAP: Final = 2.0


@dataclass(frozen=True)
class HeatCell:
    """One operator of one entry: its HAP where there is one, a glyph where cases failed.

    `sentence` is what a screen reader says.
    """

    hap: float | None
    glyph: str
    sentence: str
    href: str | None


@dataclass(frozen=True)
class HeatRow:
    """One operator: its level and a cell per column."""

    level: str
    operator: str
    cells: tuple[HeatCell, ...]


def heat_map(title: str, columns: Sequence[str], rows: Sequence[HeatRow], _: Gettext) -> Markup:
    """The map as an SVG grid; `columns` are short names. Its cells are links, one of which takes the tab stop.

    Where columns are narrow their names stand at a slant.
    """
    left = _label_end(rows)
    cell = _cell_width(len(columns), left)
    slanted = cell < SLANT_BELOW
    head = SLANTED_HEAD if slanted else HEAD
    middles = [left + cell * (index + 0.5) for index in range(len(columns))]
    heads = [_head(name, x, head - 10, slanted) for name, x in zip(columns, middles, strict=True)]
    above = [""] + [row.level for row in rows]
    parts = [element("g", *heads)]
    parts += [_row(row, above[index], index, _Grid(left, head, cell)) for index, row in enumerate(rows)]
    bottom = head + ROW * len(rows)
    parts.append(_legend(left, bottom + 16, _))
    end = left + cell * len(columns) + (SLANT_ROOM if slanted else 0)
    width = max(end, left + LEGEND_WIDTH)
    return picture(title, width, bottom + LEGEND, *parts, class_="heat-map", role="grid")


@dataclass(frozen=True)
class _Grid:
    """Where cells lie: the first one's corner, and how wide each is."""

    left: float
    top: float
    cell: float


def _head(name: str, x: float, y: float, slanted: bool) -> Markup:
    if not slanted:
        return text(name, x, y, class_="head", anchor="middle")
    return element("text", name, x=x, y=y, class_="head", transform=f"rotate(-40 {x:.0f} {y:.0f})")


def _label_end(rows: Sequence[HeatRow]) -> float:
    """Where labels end and cells begin: as far as the longest operator's name needs."""
    return LEVEL_WIDTH + LETTER_WIDTH * max((len(row.operator) for row in rows), default=0) + 8


def _cell_width(columns: int, left: float) -> float:
    room = (MAP_WIDTH - SLANT_ROOM - left) / max(columns, 1)
    return max(min(room, MOST_CELL_WIDTH), LEAST_CELL_WIDTH)


def _row(row: HeatRow, level_above: str, index: int, grid: _Grid) -> Markup:
    top = grid.top + ROW * index
    parts = [text(row.operator, LEVEL_WIDTH, top + ROW / 2 + 4, class_="label")]
    if row.level != level_above:
        parts.append(text(row.level, 0, top + ROW / 2 + 4, class_="level"))
    for column, content in enumerate(row.cells):
        x = grid.left + grid.cell * column
        parts.append(_cell(content, x, top, grid.cell, first=index == 0 and column == 0))
    return element("g", *parts, role="row")


def _cell(content: HeatCell, x: float, y: float, width: float, first: bool) -> Markup:
    colour = hap_class(content.hap)
    label = content.glyph if content.hap is None else f"{content.glyph} {hap(content.hap)}".strip()
    inside = (
        element("title", content.sentence),
        element("rect", x=x, y=y, width=width - CELL_GAP, height=ROW - CELL_GAP, class_=colour),
        text(label, x + (width - CELL_GAP) / 2, y + ROW / 2 + 3, class_=f"on-{colour}", anchor="middle"),
    )
    marked = {"class_": "cell", "tabindex": 0 if first else -1, "aria_label": content.sentence}
    if content.href is None:
        inner = element("g", *inside, role="img", **marked)
    else:
        inner = element("a", *inside, href=content.href, **marked)
    return element("g", inner, role="gridcell")


def _legend(left: float, y: float, _: Gettext) -> Markup:
    width = 22.0
    swatches = [
        element("rect", x=left + width * step, y=y, width=width, height=10, class_=f"hap-{step}") for step in range(11)
    ]
    end = left + width * 11
    notes = (
        text(_("slow"), left, y + 24, class_="tick"),
        text(_("baseline 0.5"), left + width * 5.5, y + 24, class_="tick", anchor="middle"),
        text(_("limit 1.0"), end, y + 24, class_="tick", anchor="end"),
        element("rect", x=end + 16, y=y, width=width, height=10, class_="hap-over"),
        text(_("above: under review"), end + 16, y + 24, class_="tick"),
        text(_("– not attempted"), end + 132, y + 10, class_="tick"),
        text(_("… on hold"), end + 132, y + 24, class_="tick"),
        text("HAP", left - 8, y + 10, class_="head", anchor="end"),
    )
    return element("g", *swatches, *notes, class_="legend", aria_hidden="true")
