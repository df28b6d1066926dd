"""`/boards` and standings, as JSON and CSV; answers carry an ETag from the board's version."""

from __future__ import annotations

from datetime import UTC, datetime
from hashlib import sha256
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import JSONResponse

from app.boards import service
from app.boards.export import standings_csv
from app.boards.schemas import BoardView, OperatorStandingsView, StandingsView
from app.boards.service import StandingsQuery
from app.portal import portal_of
from kernel_eval.model import Level

router = APIRouter(prefix="/boards", tags=["boards"])
MAX_EXPORT_ROWS = 1_000_000


def standings_query(
    as_of: Annotated[
        datetime | None, Query(description="The board as it stood then; UTC where no zone is given.")
    ] = None,
    level: Level | None = None,
    operator: str | None = None,
    dsl: str | None = None,
    cursor: str | None = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = service.PAGE_ROWS,
) -> StandingsQuery:
    """The query's parameters."""
    return StandingsQuery(in_utc(as_of), level, operator, dsl, cursor, limit)


AskedStandings = Annotated[StandingsQuery, Depends(standings_query)]


@router.get("")
def list_boards(request: Request) -> list[BoardView]:
    """All boards."""
    with portal_of(request).database.session() as session:
        return service.list_boards(session)


@router.get("/{board}")
def get_board(request: Request, board: str) -> BoardView:
    """One board and what it pins."""
    with portal_of(request).database.session() as session:
        return service.board_view(session, board)


@router.get("/{board}/standings", response_model=StandingsView, responses={304: {"description": "Not modified"}})
def get_standings(request: Request, board: str, query: AskedStandings) -> Response:
    """Who stands where: pinned baseline and limit, then entries by rank."""
    with portal_of(request).database.session() as session:
        etag = _etag(request, board, service.board_version(session, board))
        if _unchanged(request, etag):
            return Response(status_code=304, headers={"ETag": etag})
        view = service.standings_view(session, board, query)
    return JSONResponse(view.model_dump(mode="json"), headers={"ETag": etag, "Cache-Control": "no-cache"})


@router.get("/{board}/standings.csv", response_class=Response, responses={200: {"content": {"text/csv": {}}}})
def get_standings_csv(request: Request, board: str, query: AskedStandings) -> Response:
    """The same as CSV, all rows at once."""
    everything = StandingsQuery(query.as_of, query.level, query.operator, query.dsl, None, MAX_EXPORT_ROWS)
    with portal_of(request).database.session() as session:
        view = service.standings_view(session, board, everything)
    return csv_response(standings_csv(view), f"{board}.csv")


@router.get("/{board}/operators/{operator}/standings")
def get_operator_standings(
    request: Request, board: str, operator: str, as_of: datetime | None = None
) -> OperatorStandingsView:
    """The ranking of one operator."""
    with portal_of(request).database.session() as session:
        return service.operator_standings_view(session, board, operator, in_utc(as_of))


def csv_response(text: str, filename: str) -> Response:
    """A CSV file to save."""
    headers = {"Content-Disposition": f'attachment; filename="{filename}"'}
    return Response(text, media_type="text/csv; charset=utf-8", headers=headers)


def in_utc(moment: datetime | None) -> datetime | None:
    """A moment without a zone taken as UTC."""
    return moment.replace(tzinfo=UTC) if moment is not None and moment.tzinfo is None else moment


def _etag(request: Request, board: str, version: int) -> str:
    query = sha256(request.url.query.encode()).hexdigest()[:12]
    return f'W/"{board}-{version}-{query}"'


def _unchanged(request: Request, etag: str) -> bool:
    return etag in {tag.strip() for tag in request.headers.get("if-none-match", "").split(",")}
