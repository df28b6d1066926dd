"""Dependencies that say who is behind a request."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

from fastapi import Depends, Request

from app.auth.cookie import COOKIE, CSRF_HEADER, WebSession
from app.auth.errors import CsrfRefused, ScopeMissing, SignInNeeded, TokenInvalid
from app.auth.tokens import Scope
from app.portal import Portal, portal_of
from app.users import service as users
from app.users.service import Known

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True)
class Principal:
    """Somebody known; `web_session` is set where a cookie and not a bearer token said so."""

    user_id: int
    name: str
    token_id: int
    scopes: frozenset[Scope]
    web_session: WebSession | None = None

    def require(self, scope: Scope) -> None:
        """Raises `ScopeMissing` where the token does not allow it."""
        if scope not in self.scopes:
            raise ScopeMissing(scope.value)


def anyone(request: Request) -> Principal | None:
    """Who is behind the request, or None; a bearer token that is no good raises `TokenInvalid`.

    A sync dependency: its database connection is given back before anything else
    of the request happens. It does not look at CSRF tokens: see `signed_in`.
    """
    portal = portal_of(request)
    kind, _, text = request.headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer":
        return _by_bearer(portal, text.strip())
    web_session = portal.signer.read(request.cookies.get(COOKIE, ""))
    return _by_cookie(portal, web_session) if web_session else None


def somebody(principal: Annotated[Principal | None, Depends(anyone)]) -> Principal:
    """The person behind the request; raises `SignInNeeded`."""
    if principal is None:
        raise SignInNeeded
    return principal


def signed_in(request: Request, principal: Annotated[Principal, Depends(somebody)]) -> Principal:
    """Like `somebody`, and a cookie-borne post must bring its CSRF token in the header."""
    if request.method not in SAFE_METHODS:
        check_csrf(portal_of(request), principal, request.headers.get(CSRF_HEADER))
    return principal


def check_csrf(portal: Portal, principal: Principal, sent: str | None) -> None:
    """Raises `CsrfRefused` where a cookie says who it is and `sent` is not its session's token."""
    if principal.web_session is not None and not portal.signer.csrf_matches(principal.web_session, sent):
        raise CsrfRefused


def _by_bearer(portal: Portal, text: str) -> Principal:
    with portal.database.session() as session:
        known = users.known_by_token(session, text, datetime.now(UTC))
    if known is None:
        raise TokenInvalid
    return _principal(known, None)


def _by_cookie(portal: Portal, web_session: WebSession) -> Principal | None:
    with portal.database.session() as session:
        known = users.known_by_session(session, web_session.token_id, datetime.now(UTC))
    return _principal(known, web_session) if known else None


def _principal(known: Known, web_session: WebSession | None) -> Principal:
    return Principal(known.user_id, known.user, known.token_id, known.scopes, web_session)


Anyone = Annotated[Principal | None, Depends(anyone)]
Somebody = Annotated[Principal, Depends(somebody)]
SignedIn = Annotated[Principal, Depends(signed_in)]
