"""One log line per request, and an id that the answer, the log and an error report share."""

from __future__ import annotations

import time
from secrets import token_hex

import structlog
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

REQUEST_ID = "x-request-id"
_log = structlog.get_logger(__name__)


class RequestLog:
    """ASGI middleware that gives every request an id and logs method, path, status and milliseconds."""

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

        with structlog.contextvars.bound_contextvars(request_id=request_id):
            try:
                await self.app(scope, receive, note)
            finally:
                elapsed_ms = round((time.perf_counter() - begun) * 1000, 1)
                _log.info("request", method=scope["method"], path=scope["path"], status=status, ms=elapsed_ms)
