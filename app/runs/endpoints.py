"""`/results` and `/queue`."""

from __future__ import annotations

from datetime import UTC, datetime

from fastapi import APIRouter, Request
from fastapi.responses import Response

from app.auth.principal import Anyone, Principal
from app.portal import portal_of
from app.runs.export import result_csv
from app.runs.results import result_view
from app.runs.schemas import QueueView, ResultView
from app.runs.waiting import queue_view

router = APIRouter()


@router.get("/results/{result}.csv", tags=["results"], response_class=Response)
def get_result_csv(request: Request, result: str, reader: Anyone) -> Response:
    """The public cases of a result as CSV."""
    text = result_csv(_result(request, result, reader))
    headers = {"Content-Disposition": f'attachment; filename="{result}.csv"'}
    return Response(text, media_type="text/csv; charset=utf-8", headers=headers)


@router.get("/results/{result}", tags=["results"])
def get_result(request: Request, result: str, reader: Anyone) -> ResultView:
    """A result with everything that may be told of it, and how to cite it."""
    return _result(request, result, reader)


@router.get("/queue", tags=["queue"])
def get_queue(request: Request) -> QueueView:
    """What runs and what waits, per hardware."""
    with portal_of(request).database.session() as session:
        return queue_view(session, datetime.now(UTC))


def _result(request: Request, result: str, reader: Principal | None) -> ResultView:
    portal = portal_of(request)
    with portal.database.session() as session:
        return result_view(session, result, portal.settings.public_url, reader.user_id if reader else None)
