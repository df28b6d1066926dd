"""The queue and the workers."""

from __future__ import annotations

from datetime import UTC, datetime

from fastapi import APIRouter
from fastapi.responses import Response

from app.runs.waiting import queue_view
from app.web.views.queue import hardware_line, worker_line
from app.web.visit import Visiting
from app.workers.service import workers_view

router = APIRouter()


@router.get("/queue")
def show_queue(visit: Visiting) -> Response:
    """What waits, what runs, and who does it."""
    now = datetime.now(UTC)
    with visit.portal.database.session() as session:
        queues = queue_view(session, now).queues
        workers = workers_view(session, now).workers
    return visit.page(
        "pages/queue.html",
        section="queue",
        lines=[hardware_line(queue, now, visit.gettext) for queue in queues],
        workers=[worker_line(worker, now, visit.gettext) for worker in workers],
    )
