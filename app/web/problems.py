"""Errors as pages for people; programs get the problem documents that the API gives."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import isawaitable
from typing import Final

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from app.errors import PortalError, validation_faults
from app.web.reader import reader_of
from app.web.site import Site, site_of
from app.web.translation import Language
from app.web.translation import mark as N_  # noqa: N812 - the name the catalogue tools look for
from kernel_eval.errors import Fault

Handler = Callable[[Request, Exception], Response | Awaitable[Response]]

TITLES: Final[Mapping[int, str]] = {
    401: N_("Please sign in"),
    403: N_("This is not allowed"),
    404: N_("There is nothing here"),
    405: N_("This address takes no such request"),
    409: N_("This contradicts what is already so"),
    413: N_("The file is too large"),
    422: N_("The request could not be used"),
    429: N_("Too many requests"),
    500: N_("Our fault"),
    503: N_("Back in a moment"),
}

STEPS: Final[Mapping[int, tuple[str, ...]]] = {
    401: (N_("Sign in with an access token and repeat what you did."),),
    403: (
        N_("Load the page again and repeat; a form is good for one session only."),
        N_("If it stays so, your token does not allow this."),
    ),
    404: (
        N_("Check the address; ids look like HB-LOCAL-2026-000001."),
        N_("Start from the list of boards."),
        N_("A private submission is seen by its owner only: sign in if it is yours."),
    ),
    405: (N_("Go back and use the form or the link on the page."),),
    409: (N_("Load the page again to see how things stand now."),),
    413: (N_("Leave build output, data and version control out of the archive, and pack it again."),),
    422: (N_("Go back, mend what is named above, and send it again."),),
    429: (N_("Wait a minute, then try again."),),
    500: (
        N_("It was logged. Try again in a minute."),
        N_("Nothing you sent was scored, and nothing counts against you."),
    ),
    503: (N_("Try again in a minute; what was accepted is kept."),),
}


@dataclass(frozen=True)
class ProblemView:
    """An error's page; `faults` says of each parameter what is wrong with it, in English."""

    status: int
    title: str
    detail: str
    faults: tuple[Fault, ...]
    steps: tuple[str, ...]


PARAMETERS: Final = N_("The address asks for something that it cannot:")


def problem_view(site: Site, language: Language, status: int, detail: str, faults: Sequence[Fault] = ()) -> ProblemView:
    """What the page of an error says; statuses without words of their own speak as 422 or 500 do."""
    gettext = site.speeches[language].gettext
    known = status if status in TITLES else 500 if status >= 500 else 422
    said = gettext(detail) if detail else ""
    steps = tuple(gettext(step) for step in STEPS[known])
    named = tuple(replace(fault, where=fault.where.rsplit(".", 1)[-1]) for fault in faults)
    return ProblemView(status, gettext(TITLES[known]), said, named, steps)


def wants_page(request: Request) -> bool:
    """Whether a person's browser asks, outside the API."""
    return not request.url.path.startswith("/api/") and "text/html" in request.headers.get("accept", "")


def install(app: FastAPI) -> None:
    """Let the app answer people with pages, and leave programs to the handlers that are installed already."""
    for kind in (PortalError, HTTPException, RequestValidationError, Exception):
        handler = app.exception_handlers.get(kind)
        if handler is not None:
            app.add_exception_handler(kind, _page_or(handler))


def _page_or(handler: Handler) -> Handler:
    async def answer(request: Request, error: Exception) -> Response:
        answered = handler(request, error)
        response = await answered if isawaitable(answered) else answered
        if not wants_page(request):
            return response
        return _as_page(request, response, error)

    return answer


def _as_page(request: Request, response: Response, error: Exception) -> Response:
    site, reader = site_of(request), reader_of(request)
    detail, faults = _said(error)
    view = problem_view(site, reader.language, response.status_code, detail, faults)
    page = site.page("pages/problem.html", reader, view.status, problem=view, section="")
    for name in ("www-authenticate", "retry-after", "allow"):
        if name in response.headers:
            page.headers[name] = response.headers[name]
    return page


def _said(error: Exception) -> tuple[str, Sequence[Fault]]:
    """What an error says of itself, and every fault that it found."""
    if isinstance(error, PortalError):
        return error.detail, error.faults
    return (PARAMETERS, validation_faults(error.errors())) if isinstance(error, RequestValidationError) else ("", ())
