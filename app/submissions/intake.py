"""Takes an upload in: streamed to a stage while it is hashed, judged by every rule, then accepted or gone."""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

from anyio import to_thread
from fastapi import Request
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from app.auth.cookie import CSRF_FIELD, CSRF_HEADER
from app.auth.principal import Principal, check_csrf
from app.auth.tokens import Scope
from app.portal import Portal, portal_of
from app.storage import StagedFile, TooLarge
from app.submissions import service
from app.submissions.errors import SubmissionRefused, UploadBroken, UploadTooLarge
from app.submissions.form import key_faults, read_form
from app.submissions.multipart import FILE_FIELD, MAX_FIELD_BYTES, MAX_FIELDS, FormReader, boundary_of
from app.submissions.service import Accepted, Handed
from kernel_eval.build.archive import ArchiveLimits, check_archive
from kernel_eval.errors import ArchiveRefused, Fault

_FORM_BYTES = MAX_FIELDS * MAX_FIELD_BYTES
_BLOCK_BYTES = 256 * 1024
_DRAIN_S = 10.0


async def take_in(request: Request, principal: Principal, key: str | None = None) -> Accepted:
    """Take the request's upload in for `principal`, by API or by the page's form; `key` makes repeats one.

    Raises `ScopeMissing`, `CsrfRefused`, `NotMultipart`, `UploadTooLarge`,
    `UploadBroken`, `SubmissionRefused` (with all faults at once), `KeyReused`.
    Where it raises, nothing is left behind; `request.state.sent_fields` has the
    text fields, so that a form can be shown again as it was sent.
    """
    principal.require(Scope.SUBMIT)
    portal = portal_of(request)
    max_bytes = portal.settings.max_upload_bytes
    await _refuse_early(request, max_bytes)
    with portal.store.stage(max_bytes) as staged:
        reader = FormReader(boundary_of(request.headers.get("content-type", "")), staged.write)
        await _receive(request, reader, max_bytes)
        request.state.sent_fields = dict(reader.fields)
        sent = reader.fields.pop(CSRF_FIELD, None) or request.headers.get(CSRF_HEADER)
        check_csrf(portal, principal, sent)
        return await to_thread.run_sync(_accept, portal, principal, staged, reader, key, limiter=portal.judging)


def _accept(portal: Portal, principal: Principal, staged: StagedFile, reader: FormReader, key: str | None) -> Accepted:
    """Judge what was received and hand it to the service. Runs in a thread."""
    form, faults = read_form(reader.fields)
    faults = [*reader.faults, *faults, *key_faults(key)]
    staged.file.flush()
    filename = shown_filename(reader.filename or "")
    faults += _archive_faults(staged, reader.filename, portal.settings.max_upload_bytes)
    with portal.database.session() as session:
        faults += _board_faults(session, reader.fields, faults)
        if faults or form is None:
            raise SubmissionRefused("The upload breaks rules; `errors` names each of them. Nothing was kept.", faults)
        handed = Handed(form, filename, staged.sha256, staged.size_bytes, key)
        return service.accept(
            session,
            handed,
            principal.user_id,
            principal.name,
            instance=portal.settings.instance,
            now=datetime.now(UTC),
            keep=lambda: portal.store.keep(staged),
        )


def shown_filename(filename: str) -> str:
    """A submitted file name without folders and control characters, of bounded length."""
    base = filename.replace("\\", "/").rsplit("/", 1)[-1]
    clean = "".join(letter for letter in base if unicodedata.category(letter)[0] != "C")
    return clean[-120:] or "upload"


async def _receive(request: Request, reader: FormReader, max_bytes: int) -> None:
    blocks = _blocks(request)
    try:
        async for block in blocks:
            await run_in_threadpool(reader.write, block)
    except TooLarge as error:
        await _drain(blocks, max_bytes)
        raise UploadTooLarge(max_bytes) from error
    except ClientDisconnect as error:
        raise UploadBroken("The connection ended before the upload did. Upload it again.") from error
    reader.finish()


async def _drain(blocks: AsyncIterator[bytes], max_bytes: int) -> None:
    """Read on for a while and keep nothing: most clients read an answer only after they have sent everything."""
    left = max_bytes
    with suppress(ClientDisconnect, TimeoutError):
        async with asyncio.timeout(_DRAIN_S):
            async for block in blocks:
                left -= len(block)
                if left < 0:
                    return


async def _blocks(request: Request) -> AsyncIterator[bytes]:
    """The body in blocks of some 256 KiB, so that a thread is taken for each block and not for each packet."""
    pending = bytearray()
    async for piece in request.stream():
        pending += piece
        if len(pending) >= _BLOCK_BYTES:
            yield bytes(pending)
            pending.clear()
    if pending:
        yield bytes(pending)


async def _refuse_early(request: Request, max_bytes: int) -> None:
    """Refuse by the announced length; a client that waits for leave to send is never given it."""
    announced = request.headers.get("content-length", "")
    if not announced.isdigit() or int(announced) <= max_bytes + _FORM_BYTES:
        return
    if "expect" not in request.headers:
        await _drain(_blocks(request), max_bytes)
    raise UploadTooLarge(max_bytes)


def _board_faults(session: Session, fields: Mapping[str, str], faults: Sequence[Fault]) -> list[Fault]:
    """Whether the board exists, whatever else is wrong; a name that can be no board's has its fault already."""
    if "board" not in fields or Fault("REQ-001", "board", "") in [replace(fault, message="") for fault in faults]:
        return []
    return service.board_faults(session, fields["board"].strip())


def _archive_faults(staged: StagedFile, filename: str | None, max_bytes: int) -> list[Fault]:
    if filename is None:
        return [Fault("REQ-002", FILE_FIELD, "is missing; send the archive in this field")]
    try:
        check_archive(staged.file, filename, ArchiveLimits(max_archive_bytes=max_bytes))
    except ArchiveRefused as refused:
        return list(refused.faults)
    return []
