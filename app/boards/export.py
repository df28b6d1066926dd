"""Standings as CSV. Pure."""

from __future__ import annotations

import csv
import io

from app.boards.schemas import StandingsView

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def standings_csv(view: StandingsView) -> str:
    """One line per row: rank, entry, totals, then a column per operator; pinned rows are left out."""
    levels, operators = list(view.board.level_maxima), view.board.operators
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    who = ["rank", "entry", "user", "agent", "model", "harness", "dsl"]
    writer.writerow([*who, "total", *levels, "solved", "attempts", "published_at", "submission", *operators])
    for row in view.rows:
        entry = row.entry
        words = [entry.name, entry.user, entry.agent, entry.model, entry.harness, entry.dsl]
        figures = [row.total, *(row.levels.get(level, 0.0) for level in levels), row.solved, row.attempts]
        scores = [row.operators[name].score if name in row.operators else "" for name in operators]
        writer.writerow([row.rank, *map(inert, words), *figures, row.published_at.isoformat(), row.submission, *scores])
    return text.getvalue()


def inert(text: str) -> str:
    """A user's text such that no spreadsheet takes it for a formula."""
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text
