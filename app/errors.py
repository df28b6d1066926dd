"""Errors that carry their HTTP status, told as problem documents (RFC 9457).

    PortalError           base: status, type, title; subclasses live in each domain's errors.py
    ├── NotFound          404
    ├── Refused           422, with every fault at once
    ├── Conflict          409
    ├── Unauthenticated   401
    ├── Forbidden         403
    └── …

An answer says what is wrong, where, and what to do. Whatever else is raised is
our fault: a 500 without details, logged under the request's id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, ClassVar

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from kernel_eval.errors import Fault

PROBLEM_TYPE = "application/problem+json"
_log = structlog.get_logger(__name__)


class FaultView(BaseModel):
    """One fault: which rule, where, what to do about it."""

    rule: str
    where: str
    message: str


class Problem(BaseModel):
    """A problem document (RFC 9457); `errors` has every fault that was found."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    errors: list[FaultView] = []


PROBLEM_RESPONSES: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": Problem, "description": "What is wrong, where, what to do", "content": {PROBLEM_TYPE: {}}},
    "5XX": {"model": Problem, "description": "A fault of ours", "content": {PROBLEM_TYPE: {}}},
}
"""How endpoints declare their problem documents."""


class PortalError(Exception):
    """Base of everything that the portal answers with a problem document."""

    status: ClassVar[int] = 500
    slug: ClassVar[str] = "internal-error"
    title: ClassVar[str] = "Our fault"

    def __init__(self, detail: str, faults: Sequence[Fault] = (), headers: Mapping[str, str] | None = None) -> None:
        self.detail = detail
        self.faults = tuple(faults)
        self.headers = dict(headers or {})
        super().__init__(detail)


class NotFound(PortalError):
    """There is no such thing, or it is not for this reader."""

    status, slug, title = 404, "not-found", "Not found"


class Refused(PortalError):
    """The request cannot be used as it is."""

    status, slug, title = 422, "refused", "Request refused"


class Conflict(PortalError):
    """The request contradicts what is already so."""

    status, slug, title = 409, "conflict", "Conflict"


class Unauthenticated(PortalError):
    """Nobody is known behind the request."""

    status, slug, title = 401, "unauthenticated", "Sign in"

    def __init__(self, detail: str) -> None:
        super().__init__(detail, headers={"WWW-Authenticate": "Bearer"})


class Forbidden(PortalError):
    """The person behind the request may not do this."""

    status, slug, title = 403, "forbidden", "Not allowed"


def problem_response(request: Request, error: PortalError) -> JSONResponse:
    """The problem document of an error."""
    problem = Problem(
        type=f"urn:hapboard:problem:{error.slug}",
        title=error.title,
        status=error.status,
        detail=error.detail,
        instance=request.url.path,
        errors=[FaultView(rule=fault.rule, where=fault.where, message=fault.message) for fault in error.faults],
    )
    return JSONResponse(problem.model_dump(), error.status, error.headers, media_type=PROBLEM_TYPE)


def as_portal_error(error: HTTPException) -> PortalError:
    """A framework's error in the portal's words."""
    phrase = HTTPStatus(error.status_code).phrase
    slug = phrase.lower().replace(" ", "-")
    kind = type("FrameworkError", (PortalError,), {"status": error.status_code, "slug": slug, "title": phrase})
    made: PortalError = kind(str(error.detail), headers=error.headers)
    return made


def validation_faults(errors: Sequence[Any]) -> tuple[Fault, ...]:
    """The framework's findings about parameters as faults; values are not echoed."""
    return tuple(Fault("REQ-001", _place(error), _said(error)) for error in errors)


def _place(error: Any) -> str:
    """The field; what is wrong with several of them together is the form's fault."""
    return ".".join(str(part) for part in error.get("loc", ())) or "form"


def _said(error: Any) -> str:
    """What is wrong: in a rule's own words where it is one of ours, without the framework's prefix."""
    cause = error.get("ctx", {}).get("error")
    return str(cause) if isinstance(cause, Exception) else str(error.get("msg", "invalid"))


def install(app: FastAPI) -> None:
    """Let the app answer every error with a problem document."""

    @app.exception_handler(PortalError)
    def _portal(request: Request, error: PortalError) -> JSONResponse:
        return problem_response(request, error)

    @app.exception_handler(HTTPException)
    def _framework(request: Request, error: HTTPException) -> JSONResponse:
        return problem_response(request, as_portal_error(error))

    @app.exception_handler(RequestValidationError)
    def _invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        faults = validation_faults(error.errors())
        detail = "Some parameters cannot be used; `errors` names each of them."
        return problem_response(request, Refused(detail, faults))

    @app.exception_handler(Exception)
    def _ours(request: Request, error: Exception) -> JSONResponse:
        _log.error("request_failed", path=request.url.path, exc_info=error)
        detail = "The service failed, not your request. It was logged; try again in a minute."
        return problem_response(request, PortalError(detail))
