"""One log line per request, and an id that the answer, the log and an error report share."""

from __future__ import annotations

import asyncio
import time
from secrets import token_hex

import structlog
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.errors import PortalError, problem_response

REQUEST_ID = "x-request-id"
_log = structlog.get_logger(__name__)


class BadAddress(PortalError):
    """The address can be nobody's."""

    status, slug, title = 400, "bad-address", "Bad address"


class Stopping(PortalError):
    """The portal stops before the request could be answered; nothing of it was kept."""

    status, slug, title = 503, "stopping", "Stopping"

    def __init__(self) -> None:
        super().__init__("The service is being restarted. Try again in a minute.", headers={"Retry-After": "60"})


class RequestLog:
    """ASGI middleware that gives every request an id and logs method, path, status and milliseconds.

    A request that is still open when the server has waited long enough is told so.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; note how it ended."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id, begun, status = token_hex(8), time.perf_counter(), 0

        async def note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[REQUEST_ID] = request_id
            await send(message)

        refused = _refusal(scope)
        with structlog.contextvars.bound_contextvars(request_id=request_id):
            try:
                await (refused or self.app)(scope, receive, note)
            except asyncio.CancelledError:  # the server cancels requests only where it stops
                if not status:
                    await problem_response(Request(scope), Stopping())(scope, receive, note)
            finally:
                elapsed_ms = round((time.perf_counter() - begun) * 1000, 1)
                _log.info("request", method=scope["method"], path=scope["path"], status=status, ms=elapsed_ms)


def _refusal(scope: Scope) -> ASGIApp | None:
    """An answer to an address that holds a NUL character, which no name of anything can have."""
    if "\0" not in scope["path"] and b"%00" not in scope["query_string"]:
        return None
    return problem_response(Request(scope), BadAddress("The address holds a NUL character. Leave it out."))
