"""Home, the list of boards, and a board."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Annotated, Final

from fastapi import APIRouter, Query
from fastapi.responses import Response
from markupsafe import Markup
from pydantic import BeforeValidator

from app.boards import service
from app.boards.schemas import BoardView, StandingRow, StandingsView
from app.boards.service import StandingsQuery
from app.errors import Refused
from app.operators.service import list_operators
from app.web.svg.heat_map import heat_map
from app.web.svg.markup import Gettext
from app.web.views import board as lines
from app.web.views.board import BoardLine, Column, PinnedLine, board_path
from app.web.views.facts import Fact, board_facts
from app.web.views.naming import entry_made, entry_name
from app.web.views.operator_map import TwinRow, column_names, heat_rows, twin_rows
from app.web.visit import Visit, Visiting, redirect
from app.web.words import hardware_name
from kernel_eval.model import Level

router = APIRouter()
PAGE_ROWS: Final = 100
SEARCHED_ROWS: Final = 1_000_000
MAP_COLUMNS: Final = 20
UNSET: Final = BeforeValidator(lambda text: text or None)
"""A form sends a choice that nobody made as empty text."""


class DateUnreadable(Refused):
    """The date of the address is no date."""

    slug = "date-unreadable"

    def __init__(self) -> None:
        super().__init__("The date cannot be read. Write it as 2026-11-30.")


@dataclass(frozen=True)
class Filter:
    """A choice above the table."""

    name: str
    label: str
    any: str
    options: tuple[tuple[str, str], ...]
    chosen: str


@dataclass(frozen=True)
class BoardCard:
    """A board in the list of boards."""

    title: str
    href: str
    summary: str


@dataclass(frozen=True)
class BoardPage:
    """Everything on a board's page."""

    slug: str
    title: str
    href: str
    measured: str
    lead: str
    caption: str
    past: str
    as_of: str
    search: str
    sort: str
    order: str
    filtered: bool
    filters: tuple[Filter, ...]
    columns: tuple[Column, ...]
    pinned: tuple[PinnedLine, ...]
    rows: tuple[BoardLine, ...]
    next: str
    heat_map: Markup
    heat_columns: tuple[str, ...]
    heat_table: tuple[TwinRow, ...]
    facts: tuple[Fact, ...]


@router.get("/")
def home(visit: Visiting) -> Response:
    """The only board, or the list of boards."""
    with visit.portal.database.session() as session:
        boards = service.list_boards(session)
    if len(boards) == 1:
        return redirect(board_path(boards[0].slug))
    return _list(visit, boards)


@router.get("/boards")
def show_boards(visit: Visiting) -> Response:
    """The list of boards."""
    with visit.portal.database.session() as session:
        boards = service.list_boards(session)
    return _list(visit, boards)


@router.get("/boards/{slug}")
def show_board(
    visit: Visiting,
    slug: str,
    level: Annotated[Level | None, UNSET] = None,
    dsl: Annotated[str, Query(max_length=40)] = "",
    q: Annotated[str, Query(max_length=100)] = "",
    as_of: str = "",
    sort: Annotated[lines.Sort | None, UNSET] = None,
    order: Annotated[lines.Order | None, UNSET] = None,
    cursor: str = "",
) -> Response:
    """A board: ranking, heat map, what it pins."""
    query = lines.Query(level or "", dsl, q.strip(), as_of, sort or "", order or "")
    everything = bool(query.search or query.sort)
    asked = StandingsQuery(
        as_of=end_of_day(as_of),
        level=level,
        dsl=dsl or None,
        cursor=None if everything else cursor or None,
        limit=SEARCHED_ROWS if everything else PAGE_ROWS,
    )
    with visit.portal.database.session() as session:
        view = service.standings_view(session, slug, asked)
        levels = {item.name: item.level for item in list_operators(session, view.board.suite)}
    return visit.page("pages/board.html", section="boards", board=_page(visit, view, query, levels))


def end_of_day(day: str) -> datetime | None:
    """The last moment of a UTC day written as `2026-11-30`; None for no text. Raises `DateUnreadable`."""
    if not day:
        return None
    try:
        return datetime.combine(date.fromisoformat(day), time.max, UTC)
    except ValueError as error:
        raise DateUnreadable from error


def _list(visit: Visit, boards: Sequence[BoardView]) -> Response:
    form = visit.gettext("{operators} operators on {hardware}; {entries} entries; suite {suite} {version}")
    cards = [
        BoardCard(
            board.title,
            board_path(board.slug),
            form.format(
                operators=len(board.operators),
                hardware=hardware_name(board.hardware),
                entries=board.entries,
                suite=board.suite,
                version=board.suite_version,
            ),
        )
        for board in boards
    ]
    return visit.page("pages/boards.html", section="boards", boards=cards)


def _page(visit: Visit, view: StandingsView, query: lines.Query, levels: dict[str, str]) -> BoardPage:
    _ = visit.gettext
    board, path = view.board, board_path(view.board.slug)
    rows = sorted_rows(found_rows(view.rows, query.search), query)
    mapped = sorted(rows, key=lambda row: row.rank)[:MAP_COLUMNS]
    count = len(rows) if query.search else view.rows_total
    next_page = query.address(path, cursor=view.next_cursor) if view.next_cursor else ""
    most = sum(most for level, most in board.level_maxima.items() if not query.level or level == query.level)
    return BoardPage(
        slug=board.slug,
        title=board.title,
        href=path,
        measured=lines.measured_sentence(view, _),
        lead="" if query.search else lines.lead_sentence(view.rows, most, _),
        caption=visit.ngettext("{count} entry", "{count} entries", count).format(count=count),
        past=query.as_of,
        as_of=query.as_of,
        search=query.search,
        sort=query.sort,
        order=query.order,
        filtered=query.filtered,
        filters=_filters(view, query, _),
        columns=lines.columns(query, path, _),
        pinned=lines.pinned_lines(view.pinned, board, _),
        rows=lines.board_lines(rows, board, _),
        next=next_page,
        heat_map=heat_map(_("HAP of operators by entry"), column_names(mapped), heat_rows(board, levels, mapped, _), _)
        if mapped
        else Markup(""),
        heat_columns=column_names(mapped),
        heat_table=twin_rows(board, levels, mapped, _),
        facts=board_facts(board, _),
    )


def found_rows(rows: Sequence[StandingRow], search: str) -> list[StandingRow]:
    """The rows whose entry, model, harness or user holds every word of the search."""
    words = search.casefold().split()
    return [row for row in rows if all(word in _searched(row) for word in words)]


def _searched(row: StandingRow) -> str:
    return f"{entry_name(row.entry)} {entry_made(row.entry)} {row.entry.name}".casefold()


def sorted_rows(rows: Sequence[StandingRow], query: lines.Query) -> list[StandingRow]:
    """Rows in the order that the address asks for; equal ones by rank."""
    ranked = sorted(rows, key=lambda row: row.rank)
    if query.sort == "entry":
        return sorted(ranked, key=lambda row: entry_name(row.entry).casefold(), reverse=query.order == "descending")
    turned = query.order == "ascending"
    if query.sort == "solved":
        return sorted(ranked, key=lambda row: row.solved if turned else -row.solved)
    if query.sort == "date":
        return sorted(ranked, key=lambda row: row.published_at.timestamp() * (1 if turned else -1))
    return ranked[::-1] if turned else ranked


def _filters(view: StandingsView, query: lines.Query, _: Gettext) -> tuple[Filter, ...]:
    levels = tuple((level, level) for level in view.board.level_maxima)
    named = dict.fromkeys([row.entry.dsl for row in view.rows if row.entry.dsl] + ([query.dsl] if query.dsl else []))
    dsls = tuple((dsl, dsl) for dsl in sorted(named))
    choices = (
        Filter("level", _("Level"), _("all levels"), levels, query.level),
        Filter("dsl", "DSL", _("any DSL"), dsls, query.dsl),
    )
    return tuple(choice for choice in choices if len(choice.options) > 1 or choice.chosen)
