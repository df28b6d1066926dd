"""A board as its page shows it: pinned rows, ranking, filters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final
from urllib.parse import urlencode

from markupsafe import Markup

from app.boards.schemas import BoardView, PinnedKind, PinnedRow, StandingRow, StandingsView
from app.web.figures import score
from app.web.svg.level_bars import LevelScore, level_bars
from app.web.svg.markup import Gettext
from app.web.views.naming import entry_made, entry_name
from app.web.words import hardware_name

TIE: Final = 0.05
"""Totals are shown with one decimal; a smaller lead than half of the last one reads as none."""


class Sort(StrEnum):
    """What the table may be sorted by."""

    ENTRY = "entry"
    TOTAL = "total"
    SOLVED = "solved"
    DATE = "date"


class Order(StrEnum):
    """In which order, as `aria-sort` names it."""

    ASCENDING = "ascending"
    DESCENDING = "descending"


@dataclass(frozen=True)
class Query:
    """What the address asks of the board; empty text where it asks nothing."""

    level: str = ""
    dsl: str = ""
    search: str = ""
    as_of: str = ""
    sort: str = ""
    order: str = ""

    @property
    def filtered(self) -> bool:
        """Whether rows may be left out."""
        return bool(self.level or self.dsl or self.search or self.as_of)

    def address(self, path: str, **changes: str) -> str:
        """The board's address with this query and some changes; empty values are left out."""
        values = {
            "level": self.level, "dsl": self.dsl, "q": self.search, "as_of": self.as_of,
            "sort": self.sort, "order": self.order,
        }  # fmt: skip
        kept = {key: value for key, value in {**values, **changes}.items() if value}
        return f"{path}?{urlencode(kept)}" if kept else path


@dataclass(frozen=True)
class PinnedLine:
    """Baseline or limit, as a row."""

    name: str
    made: str
    total: float
    levels: Markup
    solved: str


@dataclass(frozen=True)
class BoardLine:
    """An entry's row."""

    rank: str
    name: str
    made: str
    href: str
    total: float
    behind: str
    levels: Markup
    solved: str
    dsl: str
    published: datetime
    badges: tuple[str, ...]


@dataclass(frozen=True)
class Column:
    """A head of the table; `direction` is its `aria-sort` value, `href` sorts by it."""

    name: str
    href: str = ""
    direction: str = ""
    figure: bool = False


def board_path(slug: str) -> str:
    """The board's address."""
    return f"/boards/{slug}"


def pinned_lines(rows: Sequence[PinnedRow], board: BoardView, _: Gettext) -> tuple[PinnedLine, ...]:
    """The two rows that give the scale."""
    names = {
        PinnedKind.BASELINE: (_("Baseline"), _("PyTorch on the same machine, 75 per operator")),
        PinnedKind.LIMIT: (_("Limit"), _("what the hardware allows, 100 per operator")),
    }
    return tuple(
        PinnedLine(
            *names[row.kind],
            row.total,
            bars_of(row.levels, board, _),
            f"{len(board.operators)} / {len(board.operators)}",
        )
        for row in rows
    )


def board_lines(rows: Sequence[StandingRow], board: BoardView, _: Gettext) -> tuple[BoardLine, ...]:
    """The ranked rows; each says how far it is behind the leader."""
    best = max((row.total for row in rows), default=0.0)
    ranks = [row.rank for row in rows]
    return tuple(
        BoardLine(
            rank=f"={row.rank}" if ranks.count(row.rank) > 1 else str(row.rank),
            name=entry_name(row.entry),
            made=" · ".join(filter(None, (entry_made(row.entry), runs_words(row, _)))),
            href=f"/submissions/{row.submission}",
            total=row.total,
            behind=f"−{score(best - row.total)}" if best - row.total >= TIE else "",
            levels=bars_of(row.levels, board, _),
            solved=f"{row.solved} / {len(board.operators)}",
            dsl=row.entry.dsl,
            published=row.published_at,
            badges=tuple(badge.value for badge in row.badges),
        )
        for row in rows
    )


def runs_words(row: StandingRow, _: Gettext) -> str:
    """How often the entry was judged, and over how many runs of the same sources its scores are medians."""
    said = _("attempts: {count}").format(count=row.attempts)
    pooled = max((placement.runs for placement in row.operators.values()), default=1)
    medians = _("medians of up to {runs} runs").format(runs=pooled)
    return said if pooled == 1 else f"{said}, {medians}"


def bars_of(levels: dict[str, float], board: BoardView, _: Gettext) -> Markup:
    """Level bars against the board's own maxima."""
    scores = [LevelScore(level, levels.get(level, 0.0), most) for level, most in sorted(board.level_maxima.items())]
    return level_bars(scores, _)


def lead_sentence(rows: Sequence[StandingRow], most: float, _: Gettext) -> str:
    """Who leads, by how much, and whether to believe it."""
    ordered = sorted(rows, key=lambda row: row.rank)
    if not ordered:
        return ""
    first, said = ordered[0], _("{name} leads with {total} of {most}.")
    second = ordered[1] if len(ordered) > 1 else first
    ahead = first.total - second.total
    if second is not first:
        level = _("{name} leads with {total} of {most}, level with {second}.")
        said = level if ahead < TIE else _("{name} leads with {total} of {most}, {ahead} ahead of {second}.")
    sentence = said.format(
        name=entry_name(first.entry),
        total=score(first.total),
        most=f"{most:.0f}",
        ahead=score(ahead),
        second=entry_name(second.entry),
    )
    under_review = _("Some of its cases are under review.")
    return f"{sentence} {under_review}" if first.badges else sentence


def columns(query: Query, path: str, _: Gettext) -> tuple[Column, ...]:
    """The heads of the table, with the links that sort by them."""
    sorted_by = query.sort or "total"
    order = query.order or ("ascending" if sorted_by == "entry" else "descending")

    def head(key: str, name: str, figure: bool = False) -> Column:
        chosen = key == sorted_by
        turned = "ascending" if chosen and order == "descending" else "descending"
        first = "ascending" if key == "entry" and not chosen else turned
        return Column(name, query.address(path, sort=key, order=first), order if chosen else "", figure)

    return (
        Column(_("Rank")),
        head("entry", _("Entry")),
        head("total", _("Total"), figure=True),
        Column(_("Levels, each against its maximum")),
        head("solved", _("Solved"), figure=True),
        Column("DSL"),
        head("date", _("Date")),
        Column(_("Notes")),
    )


def measured_sentence(view: StandingsView, _: Gettext) -> str:
    """One sentence that says what the board measures."""
    return _(
        "Speed of {count} operators on {hardware}, checked on public and hidden cases and placed between "
        "PyTorch's time and the least time the hardware allows."
    ).format(count=len(view.board.operators), hardware=hardware_name(view.board.hardware))
