"""Waiting for a submission: long poll and server-sent events, without holding a thread or a connection."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass

from starlette.concurrency import run_in_threadpool

from app.portal import Portal
from app.submissions import service
from app.submissions.feed import LOOK_AGAIN_S, news
from app.submissions.happenings import Happening
from app.submissions.schemas import EventView, SubmissionView

_QUIET_S = 15.0
"""A comment is sent after so much silence, so that proxies keep the connection open."""


@dataclass(frozen=True)
class Watch:
    """Who watches which submission, from which event on."""

    portal: Portal
    public_id: str
    row_id: int
    reader_id: int | None
    after: int


async def settled_view(portal: Portal, public_id: str, reader_id: int | None, wait_s: float) -> SubmissionView:
    """The submission once it is settled, or as it is after `wait_s` or when the portal stops.

    Raises `SubmissionNotFound`.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + wait_s
    view = await run_in_threadpool(_look, portal, public_id, reader_id)
    if view.settled or wait_s <= 0:
        return view
    row_id = await run_in_threadpool(_row_id, portal, public_id, reader_id)
    with portal.feed.watching(row_id) as event:
        while True:
            view = await run_in_threadpool(_look, portal, public_id, reader_id)
            left = deadline - loop.time()
            if view.settled or left <= 0 or portal.feed.closing:
                return view
            await news(event, left)


async def event_stream(watch: Watch) -> AsyncIterator[str]:
    """Server-sent events after `watch.after`, until the submission is settled or the portal stops.

    Every event bears its id, so that a reader who comes back misses none. While
    the submission waits, `position` events without id tell its place in the queue.
    The framework stops this where the reader has left.
    """
    after, position, silent_s = watch.after, "", 0.0
    with watch.portal.feed.watching(watch.row_id) as event:
        while True:
            view, events = await run_in_threadpool(_now_and_since, watch, after)
            pieces = [_event_text(found) for found in events]
            after = pieces[-1][0] if pieces else after
            texts = [text for _, text in pieces] + _position_text(view, position)
            position = _place(view)
            silent_s = 0.0 if texts else silent_s + LOOK_AGAIN_S
            if silent_s >= _QUIET_S:
                silent_s, texts = 0.0, [": still here\n\n"]
            for text in texts:
                yield text
            if view.settled:
                yield f"event: settled\ndata: {json.dumps({'status': view.status})}\n\n"
                return
            if watch.portal.feed.closing:
                return
            await news(event, LOOK_AGAIN_S)


def _place(view: SubmissionView) -> str:
    return view.wait.model_dump_json() if view.wait else ""


def _position_text(view: SubmissionView, told: str) -> list[str]:
    place = _place(view)
    return [f"event: position\ndata: {place}\n\n"] if place and place != told else []


def _event_text(event: EventView) -> tuple[int, str]:
    name = Happening(event.kind).value
    return event.id, f"id: {event.id}\nevent: {name}\ndata: {event.model_dump_json()}\n\n"


def _look(portal: Portal, public_id: str, reader_id: int | None) -> SubmissionView:
    with portal.database.session() as session:
        return service.submission_view(session, public_id, reader_id, portal.settings.public_url)


def _row_id(portal: Portal, public_id: str, reader_id: int | None) -> int:
    with portal.database.session() as session:
        return service.row_id(session, public_id, reader_id)


def _now_and_since(watch: Watch, after: int) -> tuple[SubmissionView, list[EventView]]:
    """The submission and its events after `after`, of one moment: a place in the queue never follows the outcome."""
    portal = watch.portal
    with portal.database.session() as session:
        session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
        view = service.submission_view(session, watch.public_id, watch.reader_id, portal.settings.public_url)
        return view, service.events_after(session, watch.row_id, after)
