"""`/session`: sign in with a token, sign out, who am I."""

from __future__ import annotations

from datetime import UTC, datetime

from fastapi import APIRouter, Request, Response

from app.auth.cookie import COOKIE
from app.auth.errors import TokenInvalid
from app.auth.principal import Principal, SignedIn, Somebody
from app.auth.schemas import SessionView, SignIn
from app.portal import Portal, portal_of
from app.users import service as users

router = APIRouter(prefix="/session", tags=["session"])


@router.post("")
def sign_in(request: Request, response: Response, body: SignIn) -> SessionView:
    """Begin a session of the web pages: sets a signed, HttpOnly, SameSite cookie."""
    portal = portal_of(request)
    with portal.database.session() as session:
        known = users.known_by_token(session, body.token.strip(), datetime.now(UTC))
    if known is None:
        raise TokenInvalid
    value = portal.signer.begin(known.token_id)
    set_session_cookie(response, portal, value)
    web_session = portal.signer.read(value)
    return _view(portal, Principal(known.user_id, known.user, known.token_id, known.scopes, web_session))


@router.get("")
def who_am_i(request: Request, who: Somebody) -> SessionView:
    """Who is behind the request."""
    return _view(portal_of(request), who)


@router.delete("", status_code=204)
def sign_out(response: Response, _who: SignedIn) -> None:
    """End the session."""
    response.delete_cookie(COOKIE, path="/")


def set_session_cookie(response: Response, portal: Portal, value: str) -> None:
    """Give the browser its session."""
    settings = portal.settings
    response.set_cookie(
        COOKIE,
        value,
        max_age=settings.session_hours * 3600,
        path="/",
        secure=settings.secure_cookies,
        httponly=True,
        samesite="lax",
    )


def _view(portal: Portal, who: Principal) -> SessionView:
    csrf = portal.signer.csrf_token(who.web_session) if who.web_session else None
    return SessionView(user=who.name, scopes=sorted(who.scopes), csrf_token=csrf)
