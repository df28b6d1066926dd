"""A submission: its status while it is judged, its result afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Final

from fastapi import APIRouter, Form
from fastapi.responses import Response
from markupsafe import Markup
from sqlalchemy.orm import Session

from app.auth.cookie import CSRF_FIELD
from app.auth.errors import SignInNeeded
from app.auth.tokens import Scope
from app.boards.schemas import BoardView
from app.boards.service import board_view
from app.operators.service import public_specs
from app.runs.errors import ResultNotFound
from app.runs.results import result_view
from app.runs.schemas import ResultView
from app.submissions import service
from app.submissions.schemas import SubmissionView
from app.web.views.board import bars_of, board_path
from app.web.views.facts import Fact, submission_facts
from app.web.views.naming import entry_made, entry_name
from app.web.views.status import StatusLine, status_line
from app.web.views.submission import OperatorLine, held_words, inconclusive, mean_speedup, operator_line
from app.web.visit import Visit, Visiting, redirect

router = APIRouter()
UNDER_WAY: Final = frozenset({"received", "queued", "running"})


@dataclass(frozen=True)
class SubmissionPage:
    """Everything on a submission's page; `operators` is empty until there is a result."""

    public_id: str
    href: str
    permalink: str
    name: str
    made: str
    status: str
    badges: tuple[str, ...]
    board_href: str
    board_title: str
    may_cancel: bool
    total: float | None
    most: str
    solved: int
    speedup: float | None
    levels: Markup
    inconclusive: str
    held: str
    operators: tuple[OperatorLine, ...]
    log: str
    log_href: str
    facts: tuple[Fact, ...]
    citation: str
    result_id: str


@dataclass(frozen=True)
class _Found:
    """What services know of a submission; no result until a run has finished."""

    submission: SubmissionView
    board: BoardView
    result: ResultView | None
    specs: Mapping[str, Mapping[int, Mapping[str, Any]]]
    log: str


@router.get("/submissions/{public_id}")
def show_submission(visit: Visiting, public_id: str) -> Response:
    """The submission with the result of its latest run."""
    with visit.portal.database.session() as session:
        found = _find(visit, session, public_id)
    return _shown(visit, found)


@router.get("/results/{result_id}")
def show_result(visit: Visiting, result_id: str) -> Response:
    """One dated result for good: the same page, with that run's result."""
    with visit.portal.database.session() as session:
        result = result_view(session, result_id, visit.portal.settings.public_url, _reader_id(visit))
        found = _find(visit, session, result.submission, result)
    return _shown(visit, found)


@router.get("/submissions/{public_id}/status")
def show_status(visit: Visiting, public_id: str) -> Response:
    """The changing part alone, for pages that follow it."""
    with visit.portal.database.session() as session:
        submission = _submission(visit, session, public_id)
        log = service.public_log(session, public_id, _reader_id(visit))
    return visit.page("pages/submission_status.html", line=status_line(submission, visit.gettext), log=log)


@router.post("/submissions/{public_id}/cancel")
def cancel(visit: Visiting, public_id: str, csrf_token: Annotated[str, Form(alias=CSRF_FIELD)] = "") -> Response:
    """Cancel one's own submission."""
    if visit.principal is None:
        raise SignInNeeded
    visit.check_form(csrf_token)
    visit.principal.require(Scope.SUBMIT)
    with visit.portal.database.session() as session:
        service.cancel(session, public_id, visit.principal.user_id, datetime.now(UTC))
    return redirect(_path(public_id))


def _path(public_id: str) -> str:
    return f"/submissions/{public_id}"


def _reader_id(visit: Visit) -> int | None:
    return visit.principal.user_id if visit.principal else None


def _submission(visit: Visit, session: Session, public_id: str) -> SubmissionView:
    return service.submission_view(session, public_id, _reader_id(visit), visit.portal.settings.public_url)


def _find(visit: Visit, session: Session, public_id: str, result: ResultView | None = None) -> _Found:
    submission = _submission(visit, session, public_id)
    latest = submission.links.result
    if result is None and latest is not None:
        result = _result(visit, session, latest.rsplit("/", 1)[-1])
    log = "" if submission.status == "withdrawn" else service.public_log(session, public_id, _reader_id(visit))
    specs = public_specs(session, submission.board) if result is not None else {}
    return _Found(submission, board_view(session, submission.board), result, specs, log)


def _result(visit: Visit, session: Session, result_id: str) -> ResultView | None:
    """The result, or None where it is withdrawn."""
    try:
        return result_view(session, result_id, visit.portal.settings.public_url, _reader_id(visit))
    except ResultNotFound:
        return None


def _shown(visit: Visit, found: _Found) -> Response:
    line: StatusLine = status_line(found.submission, visit.gettext)
    return visit.page("pages/submission.html", section="boards", view=_page(visit, found), line=line, log=found.log)


def _page(visit: Visit, found: _Found) -> SubmissionPage:
    _ = visit.gettext
    view, result, board = found.submission, found.result, found.board
    own = visit.principal is not None and visit.principal.name == view.entry.user
    operators = result.operators if result is not None else []
    return SubmissionPage(
        public_id=view.id,
        href=_path(view.id),
        permalink=result.url if result is not None else view.links.page,
        name=entry_name(view.entry),
        made=entry_made(view.entry),
        status="queued" if view.wait else view.status,
        badges=badges(view, result),
        board_href=board_path(board.slug),
        board_title=board.title,
        may_cancel=own and view.status in UNDER_WAY,
        total=result.total if result is not None else None,
        most=f"{sum(board.level_maxima.values()):.0f}",
        solved=result.solved if result is not None else 0,
        speedup=mean_speedup(result) if result is not None else None,
        levels=bars_of(result.levels, board, _) if result is not None else Markup(""),
        inconclusive=inconclusive(result, _) if result is not None else "",
        held=held_words(result, _) if result is not None else "",
        operators=tuple(
            operator_line(operator, found.specs.get(operator.operator, {}), board.slug, len(operators) == 1, _)
            for operator in operators
        ),
        log=found.log,
        log_href=f"/api/v1/submissions/{view.id}/log",
        facts=submission_facts(view, result, _),
        citation=result.citation.bibtex if result is not None else "",
        result_id=result.id if result is not None else "",
    )


def badges(view: SubmissionView, result: ResultView | None) -> tuple[str, ...]:
    """Words beside the name, from the mode and from the flags of the result."""
    flags = [flag for operator in result.operators for flag in operator.flags] if result is not None else []
    found = {
        "practice": view.mode == "practice",
        "held": view.status != "held" and any(flag.severity == "hold" for flag in flags),
        "under_review": any(flag.severity == "review" for flag in flags),
        "opaque_binary": any(flag.flag == "opaque_binary" for flag in flags),
    }
    return tuple(badge for badge, given in found.items() if given)
