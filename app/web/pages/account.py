"""Sign in with a token, sign out, and how the pages look and speak."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Final

from fastapi import APIRouter, Form
from fastapi.responses import Response

from app.auth.cookie import COOKIE, CSRF_FIELD
from app.users import service as users
from app.web.faults import FormFault
from app.web.reader import LANGUAGE_COOKIE, THEME_COOKIE, Theme, local_path
from app.web.translation import Language
from app.web.visit import Visit, Visiting, redirect

router = APIRouter()
YEAR_S: Final = 365 * 24 * 3600
UNPROCESSABLE: Final = 422


@router.get("/sign-in")
def show_sign_in(visit: Visiting, next: str = "/") -> Response:  # noqa: A002 - the form's field
    """The form."""
    return visit.page("pages/sign_in.html", section="", faults=(), next=local_path(next))


@router.post("/sign-in")
def sign_in(
    visit: Visiting,
    token: Annotated[str, Form()] = "",
    next: Annotated[str, Form()] = "/",  # noqa: A002 - the form's field
) -> Response:
    """Begin a session for the token's owner."""
    with visit.portal.database.session() as session:
        known = users.known_by_token(session, token.strip(), datetime.now(UTC))
    if known is None:
        message = visit.gettext("This token is unknown, expired or revoked. Ask for a new one and paste all of it.")
        fault = FormFault("", visit.gettext("Access token"), message, "token")
        return visit.page("pages/sign_in.html", UNPROCESSABLE, section="", faults=(fault,), next=local_path(next))
    response = redirect(next)
    settings = visit.portal.settings
    response.set_cookie(
        COOKIE,
        visit.portal.signer.begin(known.token_id),
        max_age=settings.session_hours * 3600,
        httponly=True,
        secure=settings.secure_cookies,
        samesite="lax",
    )
    return response


@router.post("/sign-out")
def sign_out(visit: Visiting, csrf_token: Annotated[str, Form(alias=CSRF_FIELD)] = "") -> Response:
    """End the session."""
    visit.check_form(csrf_token)
    response = redirect("/")
    response.delete_cookie(COOKIE)
    return response


@router.post("/preferences")
def remember(
    visit: Visiting,
    language: Annotated[str, Form()] = "",
    theme: Annotated[str, Form()] = "",
    next: Annotated[str, Form()] = "/",  # noqa: A002 - the form's field
) -> Response:
    """Remember language and theme in this browser; unknown values change nothing."""
    response = redirect(next)
    if language in set(Language):
        _keep(response, LANGUAGE_COOKIE, language, visit)
    if theme in set(Theme):
        _keep(response, THEME_COOKIE, theme, visit)
    return response


def _keep(response: Response, name: str, value: str, visit: Visit) -> None:
    secure = visit.portal.settings.secure_cookies
    response.set_cookie(name, value, max_age=YEAR_S, httponly=True, secure=secure, samesite="lax")
