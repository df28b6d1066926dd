"""The written pages: rules and method, and the API's page made from its description."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter
from fastapi.responses import Response

from app.boards.service import list_boards
from app.web.prose import rendered, without_title
from app.web.site import frontend_folder
from app.web.visit import Visit, Visiting

router = APIRouter()


@dataclass(frozen=True)
class Endpoint:
    """One operation of the API."""

    method: str
    path: str
    does: str


@router.get("/rules")
def show_rules(visit: Visiting) -> Response:
    """What is judged, what counts as correct, what stays."""
    return _prose(visit, "rules", visit.gettext("Rules"))


@router.get("/method")
def show_method(visit: Visiting) -> Response:
    """How times become scores."""
    return _prose(visit, "method", visit.gettext("Method"))


@router.get("/api")
def show_api(visit: Visiting) -> Response:
    """The API's endpoints, from the description that it serves."""
    description = visit.request.app.openapi()
    endpoints = [
        Endpoint(method.upper(), path, operation.get("description", operation.get("summary", "")))
        for path, operations in sorted(description["paths"].items())
        for method, operation in operations.items()
    ]
    with visit.portal.database.session() as session:
        boards = list_boards(session)
    board = boards[0].slug if boards else "BOARD"
    origin = visit.portal.settings.public_url
    return visit.page("pages/api.html", section="api", endpoints=endpoints, origin=origin, board=board)


def _prose(visit: Visit, name: str, title: str) -> Response:
    path = frontend_folder() / "templates" / "prose" / f"{name}.{visit.reader.language.value}.md"
    body = rendered(without_title(path.read_text("utf-8")))
    return visit.page("pages/prose.html", section=name, title=title, body=body)
