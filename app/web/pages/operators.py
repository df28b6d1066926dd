"""An operator: what it computes, what counts as correct, its public cases, its ranking."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import Response
from sqlalchemy.orm import Session

from app.boards import service as boards
from app.boards.schemas import OperatorStandingsView
from app.operators import service
from app.operators.errors import OperatorNotFound
from app.operators.schemas import CasesView, OperatorView
from app.web.svg.three_axis import ThreeAxis
from app.web.views import operator as lines
from app.web.views.board import board_path
from app.web.views.operator_map import operator_path
from app.web.visit import Visit, Visiting, redirect

router = APIRouter()


@router.get("/operators/{name}")
def find_operator(visit: Visiting, name: str) -> Response:
    """Go on to the operator on the oldest board that has it; raises `OperatorNotFound`."""
    with visit.portal.database.session() as session:
        for board in boards.list_boards(session):
            if name in board.operators:
                return redirect(operator_path(board.slug, name))
    raise OperatorNotFound(name, None)


@router.get("/boards/{slug}/operators/{name}")
def show_operator(visit: Visiting, slug: str, name: str) -> Response:
    """The operator on that board."""
    with visit.portal.database.session() as session:
        page = _page(visit, session, slug, name)
    return visit.page("pages/operator.html", section="boards", view=page)


def _page(visit: Visit, session: Session, slug: str, name: str) -> lines.OperatorPage:
    standings = boards.operator_standings_view(session, slug, name)
    operator = service.operator_view(session, name, standings.board.suite)
    cases = service.cases_view(session, name, standings.board.suite)
    return _assembled(visit, standings, operator, cases)


def _assembled(
    visit: Visit, standings: OperatorStandingsView, operator: OperatorView, cases: CasesView
) -> lines.OperatorPage:
    board = standings.board
    return lines.OperatorPage(
        name=operator.name,
        title=operator.title,
        function=operator.function,
        level=operator.level,
        category=operator.category,
        schema=operator.schema_text,
        description=lines.description(operator, visit.reader.language),
        accuracy=lines.accuracy_rules(operator.spec, visit.gettext),
        threshold_reason=str(operator.spec.get("threshold_reason") or ""),
        cases=tuple(lines.case_line(case) for case in cases.cases),
        unmeasured=any(case.baseline_provenance == lines.DERIVED for case in cases.cases),
        ranking=tuple(
            lines.ranking_line(
                row, ThreeAxis(row.compile_points, row.correct_points, row.performance_points), visit.gettext
            )
            for row in standings.rows
        ),
        board_href=board_path(board.slug),
        board_title=board.title,
    )
