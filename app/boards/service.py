"""Show boards and who stands where. Publishing is `app.runs.publish`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from app.boards import cursor, repository
from app.boards.errors import BoardNotFound, OperatorNotOnBoard
from app.boards.repository import Origin, Outcome, RunFlag, Stand
from app.boards.schemas import (
    BoardView,
    OperatorStandingRow,
    OperatorStandingsView,
    Placement,
    StandingRow,
    StandingsView,
)
from app.boards.table import (
    TableRow,
    badges_of,
    filtered_levels,
    level_maxima,
    pinned_rows,
    ranked_rows,
    shown_levels,
)
from app.entries.schemas import EntryView
from app.entries.service import entry_views
from app.models import Board, Suite
from app.operators.service import operator_levels
from app.runs.coarse import Axes, shown_score, split_score, told_verdict
from app.runs.ids import result_id

PAGE_ROWS = 100


@dataclass(frozen=True)
class StandingsQuery:
    """Filters and page of standings; None or empty lets all through."""

    as_of: datetime | None = None
    level: str | None = None
    operator: str | None = None
    dsl: str | None = None
    cursor: str | None = None
    limit: int = PAGE_ROWS


@dataclass(frozen=True)
class _Sources:
    """Everything rows are made of, read at once for all of them."""

    origins: dict[int, Origin]
    outcomes: dict[tuple[int, str], Outcome]
    flags: dict[int, list[RunFlag]]
    entries: dict[int, EntryView]
    attempts: dict[int, int]
    held: dict[int, set[str]]


def list_boards(session: Session) -> list[BoardView]:
    """All boards, oldest first."""
    return [_board_view(session, board, suite) for board, suite in repository.all_boards(session)]


def board_view(session: Session, slug: str) -> BoardView:
    """One board; raises `BoardNotFound`."""
    return _board_view(session, *_find(session, slug))


def board_row(session: Session, slug: str) -> Board:
    """The board's row; raises `BoardNotFound`."""
    return _find(session, slug)[0]


def board_version(session: Session, slug: str) -> int:
    """What rises with every change of the board's standings; raises `BoardNotFound`."""
    return _find(session, slug)[0].version


def standings_view(session: Session, slug: str, query: StandingsQuery) -> StandingsView:
    """A page of the board's standings. Raises `BoardNotFound`, `OperatorNotOnBoard`, `CursorInvalid`."""
    board, suite = _find(session, slug)
    levels = _levels(session, board, query)
    stands = _stands(session, board, query.as_of)
    sources = _sources(session, board, stands, query.as_of)
    kept = [stand for stand in stands if not query.dsl or sources.entries[stand.entry_id].dsl == query.dsl]
    rows = ranked_rows(kept, levels, sources.origins)
    page, next_cursor = _page(rows, query)
    return StandingsView(
        board=_board_view(session, board, suite),
        as_of=query.as_of,
        level=query.level,
        operator=query.operator,
        dsl=query.dsl,
        pinned=pinned_rows(levels),
        rows=[_standing_row(row, sources) for row in page],
        rows_total=len(rows),
        next_cursor=next_cursor,
    )


def operator_standings_view(
    session: Session, slug: str, operator: str, as_of: datetime | None = None
) -> OperatorStandingsView:
    """The ranking of one operator. Raises `BoardNotFound`, `OperatorNotOnBoard`."""
    board, suite = _find(session, slug)
    levels = _levels(session, board, StandingsQuery(operator=operator))
    stands = [stand for stand in _stands(session, board, as_of) if stand.operator == operator]
    sources = _sources(session, board, stands, as_of)
    rows = ranked_rows(stands, levels, sources.origins)
    return OperatorStandingsView(
        board=_board_view(session, board, suite),
        operator=operator,
        pinned=pinned_rows(levels),
        rows=[_operator_row(row, sources) for row in rows],
    )


def _find(session: Session, slug: str) -> tuple[Board, Suite]:
    row = repository.by_slug(session, slug)
    if row is None:
        raise BoardNotFound(slug)
    return row[0], row[1]


def _levels(session: Session, board: Board, query: StandingsQuery) -> dict[str, str]:
    levels = operator_levels(session, board.suite_id)
    if query.operator and query.operator not in levels:
        raise OperatorNotOnBoard(query.operator, board.slug)
    return filtered_levels(levels, query.level, query.operator)


def _stands(session: Session, board: Board, as_of: datetime | None) -> list[Stand]:
    if as_of is None:
        return repository.standings(session, board.id)
    return repository.standings_as_of(session, board.id, as_of)


def _sources(session: Session, board: Board, stands: Sequence[Stand], as_of: datetime | None) -> _Sources:
    runs = {stand.run_id for stand in stands}
    flags: dict[int, list[RunFlag]] = {}
    for flag in repository.flags(session, runs):
        flags.setdefault(flag.run_id, []).append(flag)
    return _Sources(
        origins=repository.origins(session, runs),
        outcomes=repository.operator_results(session, runs),
        flags=flags,
        entries=entry_views(session, {stand.entry_id for stand in stands}),
        attempts=repository.attempts(session, board.id, as_of),
        held=repository.held(session, board.id, as_of),
    )


def _page(rows: Sequence[TableRow], query: StandingsQuery) -> tuple[Sequence[TableRow], str | None]:
    after = cursor.read(query.cursor) if query.cursor else None
    left = [row for row in rows if after is None or _key(row) > after]
    page = left[: query.limit]
    more = len(left) > len(page)
    return page, cursor.written(_key(page[-1])) if more and page else None


def _key(row: TableRow) -> cursor.RowKey:
    return cursor.row_key(row.total, row.received_at, row.entry_id)


def _standing_row(row: TableRow, sources: _Sources) -> StandingRow:
    return StandingRow(
        rank=row.rank,
        entry=sources.entries[row.entry_id],
        total=_shown(row.total),
        levels=shown_levels(row.levels),
        operators={stand.operator: _placement(stand, sources) for stand in row.stands},
        held=sorted(sources.held.get(row.entry_id, ())),
        solved=sum(_outcome(stand, sources).solved for stand in row.stands),
        attempts=sources.attempts.get(row.entry_id, 0),
        published_at=row.published_at,
        submission=sources.origins[row.latest_run].submission,
        badges=badges_of(row.stands, sources.flags),
    )


def _operator_row(row: TableRow, sources: _Sources) -> OperatorStandingRow:
    (stand,) = row.stands
    placement, outcome = _placement(stand, sources), _outcome(stand, sources)
    axes = _axes(stand, outcome)
    return OperatorStandingRow(
        rank=row.rank,
        entry=sources.entries[row.entry_id],
        score=placement.score,
        noise=placement.noise,
        runs=placement.runs,
        compile_points=axes.compile_points,
        correct_points=axes.correct_points,
        performance_points=axes.performance_points,
        solved=outcome.solved,
        speedup=None if outcome.speedup is None else round(outcome.speedup, 2),
        published_at=stand.published_at,
        submission=sources.origins[stand.run_id].submission,
        result=placement.result,
        badges=badges_of([stand], sources.flags),
    )


def _placement(stand: Stand, sources: _Sources) -> Placement:
    origin = sources.origins[stand.run_id]
    outcome = _outcome(stand, sources)
    return Placement(
        score=_shown(stand.score),
        noise=_shown(stand.noise),
        runs=stand.runs,
        result=result_id(origin.submission, origin.number),
        verdict=told_verdict(outcome.verdict, outcome.solved),
        performance_points=_axes(stand, outcome).performance_points,
    )


def _axes(stand: Stand, outcome: Outcome) -> Axes:
    """A pooled score's axes: compiling and correctness are the first run's."""
    if outcome.compile_points is None or outcome.correct_points is None:
        return Axes(None, None, None)
    return split_score(stand.score, outcome.compile_points, outcome.correct_points)


def _outcome(stand: Stand, sources: _Sources) -> Outcome:
    return sources.outcomes.get((stand.run_id, stand.operator), Outcome(False, None))


def _shown(value: float) -> float:
    return shown_score(value) or 0.0


def _board_view(session: Session, board: Board, suite: Suite) -> BoardView:
    levels = operator_levels(session, board.suite_id)
    return BoardView(
        slug=board.slug,
        title=board.title,
        hardware=board.hardware,
        suite=suite.name,
        suite_version=suite.version,
        suite_digest=suite.digest,
        rules_version=board.rules_version,
        limit_preset=board.limit_preset,
        anchors_version=repository.anchors_version(session, board.anchors_id),
        season=board.season,
        hidden_digest=board.hidden_digest,
        fingerprint=board.fingerprint,
        operators=list(levels),
        level_maxima=level_maxima(list(levels.values())),
        entries=repository.count_entries(session, board.id),
        version=board.version,
        created_at=board.created_at,
    )
