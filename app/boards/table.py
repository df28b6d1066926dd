"""From stands to ranked rows: the one way in which page, API and export get their order. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from app.boards.repository import Origin, RunFlag, Stand
from app.boards.schemas import Badge, PinnedKind, PinnedRow
from app.runs.coarse import shown_score
from kernel_eval.model import FlagId, Level, Severity
from kernel_eval.score import Row, level_totals, rank, total

BASELINE_POINTS = 75.0
"""An operator whose cases are all correct at baseline speed (paper, section 2.3)."""
LIMIT_POINTS = 100.0


@dataclass(frozen=True)
class TableRow:
    """One entry in rank order, with exact totals."""

    rank: int
    entry_id: int
    total: float
    levels: Mapping[str, float]
    stands: tuple[Stand, ...]
    received_at: datetime
    published_at: datetime
    latest_run: int


def ranked_rows(
    stands: Iterable[Stand], levels: Mapping[str, str], origins: Mapping[int, Origin]
) -> tuple[TableRow, ...]:
    """Rows of all entries, best first. `levels` names the operators that count, and their levels."""
    by_entry: dict[int, list[Stand]] = {}
    for stand in stands:
        if stand.operator in levels:
            by_entry.setdefault(stand.entry_id, []).append(stand)
    rows = {_padded(entry_id): _row(entry_id, found, levels, origins) for entry_id, found in by_entry.items()}
    placed = rank([Row(key, row.total, row.received_at) for key, row in rows.items()])
    return tuple(_with_rank(rows[place.row.id], place.rank) for place in placed)


def pinned_rows(levels: Mapping[str, str]) -> list[PinnedRow]:
    """The baseline and the limit over the same operators."""
    return [
        _pinned(PinnedKind.LIMIT, LIMIT_POINTS, levels),
        _pinned(PinnedKind.BASELINE, BASELINE_POINTS, levels),
    ]


def badges_of(stands: Sequence[Stand], flags: Mapping[int, Sequence[RunFlag]]) -> list[Badge]:
    """Words beside a row: from flags on what stands there, and from what the same runs have withheld."""
    found: set[Badge] = set()
    for stand in stands:
        for flag in flags.get(stand.run_id, ()):
            found |= _badges(flag, stand)
    return sorted(found)


def shown_levels(levels: Mapping[str, float]) -> dict[str, float]:
    """Level sums as they may be shown."""
    return {level: shown_score(value) or 0.0 for level, value in levels.items()}


def filtered_levels(levels: Mapping[str, str], level: str | None, operator: str | None) -> dict[str, str]:
    """The operators that the filters leave, with their levels."""
    return {
        name: own for name, own in levels.items() if (not level or own == level) and (not operator or name == operator)
    }


def level_maxima(levels: Collection[str]) -> dict[str, float]:
    """Per level that occurs among the operators' levels, the sum at the limit."""
    words = list(levels)
    return {level.value: LIMIT_POINTS * words.count(level.value) for level in Level if level.value in words}


def _row(entry_id: int, stands: list[Stand], levels: Mapping[str, str], origins: Mapping[int, Origin]) -> TableRow:
    sums = level_totals((Level(levels[stand.operator]), stand.score) for stand in stands)
    latest = max(stands, key=lambda stand: (stand.published_at, stand.run_id))
    return TableRow(
        rank=0,
        entry_id=entry_id,
        total=total(sums),
        levels={level.value: value for level, value in sums.items()},
        stands=tuple(sorted(stands, key=lambda stand: stand.operator)),
        received_at=max(origins[stand.run_id].received_at for stand in stands),
        published_at=latest.published_at,
        latest_run=latest.run_id,
    )


def _with_rank(row: TableRow, place: int) -> TableRow:
    return replace(row, rank=place)


def _padded(entry_id: int) -> str:
    """Ids compare as text in the ranking; padding makes them compare as numbers."""
    return f"{entry_id:020d}"


def _pinned(kind: PinnedKind, points: float, levels: Mapping[str, str]) -> PinnedRow:
    sums = {level: points * value / LIMIT_POINTS for level, value in level_maxima(list(levels.values())).items()}
    return PinnedRow(kind=kind, total=points * len(levels), levels=sums, per_operator=points)


def _badges(flag: RunFlag, stand: Stand) -> set[Badge]:
    if flag.severity == Severity.HOLD.value:
        return {Badge.UNDER_REVIEW}
    if flag.operator != stand.operator:
        return set()
    if flag.flag == FlagId.OPAQUE_BINARY.value:
        return {Badge.OPAQUE_BINARY}
    return {Badge.PROVISIONAL} if flag.severity == Severity.REVIEW.value else set()
