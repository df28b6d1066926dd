"""The heat map of a board and its table twin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from app.boards.schemas import BoardView, Placement, StandingRow
from app.web.figures import hap, score
from app.web.svg.heat_map import HeatCell, HeatRow
from app.web.svg.markup import Gettext
from app.web.views.naming import entry_name
from app.web.words import NOT_ATTEMPTED, NOT_ATTEMPTED_GLYPH, ON_HOLD, VERDICT_WORDS, glyph, spelled

PERFORMANCE_POINTS: Final = 50.0
COLUMN_LETTERS: Final = 14
NOTHING_RAN: Final = frozenset({"build_failed", "load_failed", "tampered"})
"""Verdicts with which there is no time to show."""


@dataclass(frozen=True)
class TwinRow:
    """A row of the table twin."""

    operator: str
    level: str
    href: str
    cells: tuple[str, ...]


def column_names(rows: Sequence[StandingRow]) -> tuple[str, ...]:
    """Short names of the entries, with their ranks."""
    return tuple(f"{row.rank} {_short(entry_name(row.entry))}" for row in rows)


def heat_rows(board: BoardView, levels: dict[str, str], rows: Sequence[StandingRow], _: Gettext) -> tuple[HeatRow, ...]:
    """One row per operator of the board, in its order of levels."""
    return tuple(
        HeatRow(levels.get(name, ""), name, tuple(_cell(name, row, _) for row in rows))
        for name in sorted(board.operators, key=lambda name: (levels.get(name, ""), name))
    )


def twin_rows(board: BoardView, levels: dict[str, str], rows: Sequence[StandingRow], _: Gettext) -> tuple[TwinRow, ...]:
    """The same figures as a table: score, and HAP in brackets."""
    return tuple(
        TwinRow(
            operator=name,
            level=levels.get(name, ""),
            href=operator_path(board.slug, name),
            cells=tuple(_figures(name, row, _) for row in rows),
        )
        for name in sorted(board.operators, key=lambda name: (levels.get(name, ""), name))
    )


def operator_path(slug: str, operator: str) -> str:
    """The address of an operator on a board."""
    return f"/boards/{slug}/operators/{operator}"


def mean_hap(placement: Placement) -> float | None:
    """The mean of s over all cases, failed ones counting 0: the performance axis over its 50 points.

    None where nothing ran.
    """
    points = placement.performance_points
    return None if points is None or placement.verdict in NOTHING_RAN else points / PERFORMANCE_POINTS


def _cell(operator: str, row: StandingRow, _: Gettext) -> HeatCell:
    placement = row.operators.get(operator)
    name = entry_name(row.entry)
    if placement is None:
        state = ON_HOLD if operator in row.held else NOT_ATTEMPTED
        said = _("{operator}, {entry}: {word}").format(operator=operator, entry=name, word=_(VERDICT_WORDS[state]))
        return HeatCell(None, glyph(state), said, None)
    value = mean_hap(placement)
    word = _(spelled(VERDICT_WORDS, placement.verdict))
    said = _("{operator}, {entry}: score {score}, HAP {hap}, {word}").format(
        operator=operator, entry=name, score=score(placement.score), hap=hap(value), word=word
    )
    mark = "" if placement.verdict == "accepted" else glyph(placement.verdict)
    return HeatCell(value, mark, said, f"/submissions/{row.submission}#{operator}")


def _figures(operator: str, row: StandingRow, _: Gettext) -> str:
    placement = row.operators.get(operator)
    if placement is None:
        return _(VERDICT_WORDS[ON_HOLD]) if operator in row.held else NOT_ATTEMPTED_GLYPH
    mark = "" if placement.verdict == "accepted" else f"{glyph(placement.verdict)} "
    return f"{mark}{score(placement.score)} ({hap(mean_hap(placement))})"


def _short(name: str) -> str:
    return name if len(name) <= COLUMN_LETTERS else f"{name[: COLUMN_LETTERS - 1]}…"
