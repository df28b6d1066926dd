"""`/submissions`: hand in, look, wait, follow, cancel."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import JSONResponse, PlainTextResponse, StreamingResponse
from starlette.concurrency import run_in_threadpool

from app.auth.principal import Anyone, Principal, SignedIn, Somebody
from app.auth.tokens import Scope
from app.portal import Portal, portal_of
from app.submissions import service
from app.submissions.intake import take_in
from app.submissions.schemas import SubmissionForm, SubmissionList, SubmissionView
from app.submissions.stream import Watch, event_stream, settled_view

router = APIRouter(prefix="/submissions", tags=["submissions"])

MAX_ID = 2**63 - 1
MAX_ID_DIGITS = 18
_FORM_SCHEMA = SubmissionForm.model_json_schema(ref_template="#/components/schemas/{model}")
_FORM_FIELDS = {"file": {"type": "string", "format": "binary", "description": "The archive."}}


def _upload_openapi() -> dict[str, Any]:
    """The multipart body, which is read as a stream and so unknown to the framework."""
    inlined = {name: _inlined(field) for name, field in _FORM_SCHEMA["properties"].items()}
    schema = {"type": "object", "required": ["file", "board"], "properties": {**_FORM_FIELDS, **inlined}}
    return {"requestBody": {"required": True, "content": {"multipart/form-data": {"schema": schema}}}}


def _inlined(field: dict[str, Any]) -> dict[str, Any]:
    reference = field.get("$ref", "").rsplit("/", 1)[-1]
    return {**_FORM_SCHEMA.get("$defs", {}).get(reference, {}), **{k: v for k, v in field.items() if k != "$ref"}}


@router.post("", status_code=202, response_model=SubmissionView, openapi_extra=_upload_openapi())
async def post_submission(
    request: Request,
    who: Somebody,
    idempotency_key: Annotated[
        str | None, Header(description="A repeated request with the same key is one submission.")
    ] = None,
) -> JSONResponse:
    """Hand an archive in. All faults are named at once; a refused upload leaves nothing behind."""
    accepted = await take_in(request, who, idempotency_key)
    portal = portal_of(request)
    view = await run_in_threadpool(_view, portal, accepted.public_id, who)
    headers = {"Location": view.links.self, "Idempotency-Repeated": "true" if accepted.repeated else "false"}
    return JSONResponse(view.model_dump(mode="json"), 202, headers)


@router.get("")
def list_submissions(
    request: Request,
    reader: Anyone,
    board: str | None = None,
    cursor: Annotated[int | None, Query(ge=1, le=MAX_ID)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> SubmissionList:
    """Submissions, latest first; one's own private ones only for oneself."""
    with portal_of(request).database.session() as session:
        return service.submission_list(session, _reader_id(reader), board, cursor, limit)


@router.get("/{submission}")
async def get_submission(
    request: Request,
    submission: str,
    reader: Anyone,
    wait: Annotated[float, Query(ge=0, description="Seconds to wait for it to be settled.")] = 0.0,
) -> SubmissionView:
    """A submission as it is now, or as soon as it is settled, at the latest after `wait` seconds."""
    portal = portal_of(request)
    return await settled_view(portal, submission, _reader_id(reader), min(wait, portal.settings.max_wait_s))


@router.get("/{submission}/events", response_class=StreamingResponse)
async def get_events(
    request: Request,
    submission: str,
    reader: Anyone,
    last_event_id: Annotated[str | None, Header()] = None,
) -> StreamingResponse:
    """Everything that happens to a submission, as server-sent events, until it is settled."""
    portal = portal_of(request)
    row_id = await run_in_threadpool(_row_id, portal, submission, reader)
    after = _event_id(last_event_id)
    stream = event_stream(Watch(portal, submission, row_id, _reader_id(reader), after))
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(stream, media_type="text/event-stream", headers=headers)


@router.get("/{submission}/log", response_class=PlainTextResponse)
def get_log(request: Request, submission: str, reader: Anyone) -> PlainTextResponse:
    """The public log as plain text: the build, public cases, what happened when."""
    with portal_of(request).database.session() as session:
        text = service.public_log(session, submission, _reader_id(reader))
    return PlainTextResponse(text, headers={"X-Content-Type-Options": "nosniff"})


@router.post("/{submission}/cancel")
def cancel_submission(request: Request, submission: str, who: SignedIn) -> SubmissionView:
    """Cancel one's own submission; a running one is killed and nothing of it is recorded."""
    who.require(Scope.SUBMIT)
    portal = portal_of(request)
    with portal.database.session() as session:
        service.cancel(session, submission, who.user_id, datetime.now(UTC))
    return _view(portal, submission, who)


def _event_id(text: str | None) -> int:
    """The id that a reader who comes back names; 0, so everything, for anything else."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) <= MAX_ID_DIGITS else 0


def _view(portal: Portal, public_id: str, who: Principal) -> SubmissionView:
    with portal.database.session() as session:
        return service.submission_view(session, public_id, who.user_id, portal.settings.public_url)


def _row_id(portal: Portal, public_id: str, reader: Principal | None) -> int:
    with portal.database.session() as session:
        return service.row_id(session, public_id, _reader_id(reader))


def _reader_id(reader: Principal | None) -> int | None:
    return reader.user_id if reader else None
