"""Level scores, total and ranking: one ranking for page, API and export (paper, section 2.3)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from kernel_eval.model import Level

TIE_DIGITS = 3
"""Totals that agree to 0.001 share a rank."""


@dataclass(frozen=True)
class Row:
    """An entry as the ranking sees it; `total` None where nothing of it is scored."""

    id: str
    total: float | None
    received_at: datetime


@dataclass(frozen=True)
class Placed:
    """A row and its rank, counted from 1; those who share a rank leave the next ones free."""

    rank: int
    row: Row


def level_totals(scores: Iterable[tuple[Level, float | None]]) -> dict[Level, float]:
    """Plain sums of operator scores per level that occurs, in the levels' order; None counts as nothing."""
    by_level: dict[Level, list[float]] = {}
    for level, score in scores:
        by_level.setdefault(level, []).append(score or 0.0)
    return {level: math.fsum(by_level[level]) for level in Level if level in by_level}


def total(levels: Mapping[Level, float]) -> float:
    """The board's total: the plain sum of its levels."""
    return math.fsum(levels.values())


def rank(rows: Sequence[Row]) -> tuple[Placed, ...]:
    """The ranking, best first. Entries without a score are left out.

    Totals are compared as they are shown, rounded to 0.001; equal ones share a
    rank and are listed by time of receipt, then by id. Raises `ValueError` for a
    total that is not finite.
    """
    scored = [(_shown(row.total), row) for row in rows if row.total is not None]
    scored.sort(key=lambda pair: (-pair[0], pair[1].received_at, pair[1].id))
    placed: list[Placed] = []
    for position, (shown, row) in enumerate(scored, start=1):
        tied = position > 1 and scored[position - 2][0] == shown
        placed.append(Placed(placed[-1].rank if tied else position, row))
    return tuple(placed)


def _shown(value: float) -> float:
    if not math.isfinite(value):
        raise ValueError(f"a total of {value} can't be ranked")
    return round(value, TIE_DIGITS)
