"""Boards and standings as they are shown. Scores have one decimal."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import BaseModel

from app.entries.schemas import EntryView


class Badge(StrEnum):
    """Words beside a row."""

    PROVISIONAL = "provisional"
    """A case is faster than the limit and counts as 1 until a person decides."""
    UNDER_REVIEW = "under_review"
    """An operator of the same submission is withheld until a person decides."""
    OPAQUE_BINARY = "opaque_binary"


class BoardView(BaseModel):
    """A board and what it pins. `version` rises with every change of its standings.

    `level_maxima` has, per level that occurs, the score of all its operators at the limit.
    """

    slug: str
    title: str
    hardware: str
    suite: str
    suite_version: str
    suite_digest: str
    rules_version: str
    limit_preset: str
    anchors_version: str | None
    season: str | None
    hidden_digest: str | None
    fingerprint: dict[str, Any]
    operators: list[str]
    level_maxima: dict[str, float]
    entries: int
    version: int
    created_at: datetime


class Placement(BaseModel):
    """An operator's score on a board row: the median of `runs` runs of the same sources; `result` is the first one's.

    `verdict` is that result's; `performance_points` (50 at most) are the score's.
    """

    score: float
    noise: float
    runs: int
    result: str
    verdict: str = "accepted"
    performance_points: float | None = None


class StandingRow(BaseModel):
    """One entry's row. `rank` is shared by equal totals; `operators` has those that count.

    `held` names operators whose scores wait for a person's decision. `attempts` counts finished ranked runs.
    """

    rank: int
    entry: EntryView
    total: float
    levels: dict[str, float]
    operators: dict[str, Placement]
    held: list[str]
    solved: int
    attempts: int
    published_at: datetime
    submission: str
    badges: list[Badge]


class PinnedKind(StrEnum):
    """Which of the two unranked rows that give the scale."""

    BASELINE = "baseline"
    LIMIT = "limit"


class PinnedRow(BaseModel):
    """What an entry would have that is as fast as the baseline, or as the limit, everywhere."""

    kind: PinnedKind
    total: float
    levels: dict[str, float]
    per_operator: float


class StandingsView(BaseModel):
    """A board's standings. `rows_total` counts rows before paging; `next_cursor` is None on the last page."""

    board: BoardView
    as_of: datetime | None
    level: str | None
    operator: str | None
    dsl: str | None
    pinned: list[PinnedRow]
    rows: list[StandingRow]
    rows_total: int
    next_cursor: str | None


class OperatorStandingRow(BaseModel):
    """One entry's score of one operator, with its three axes (20, 30, 50 points at most).

    It is the median of `runs` runs of the same sources; `result` is the first one's id.
    """

    rank: int
    entry: EntryView
    score: float
    noise: float
    runs: int
    compile_points: float | None = None
    correct_points: float | None = None
    performance_points: float | None = None
    solved: bool
    speedup: float | None
    published_at: datetime
    submission: str
    result: str
    badges: list[Badge]


class OperatorStandingsView(BaseModel):
    """The ranking of one operator on a board."""

    board: BoardView
    operator: str
    pinned: list[PinnedRow]
    rows: list[OperatorStandingRow]
