"""Sign-in as it is asked for and answered."""

from __future__ import annotations

from pydantic import BaseModel


class SignIn(BaseModel):
    """A token to sign in with."""

    token: str


class SessionView(BaseModel):
    """Who is signed in; `csrf_token` goes into the header `X-CSRF-Token` of every cookie-borne post."""

    user: str
    scopes: list[str]
    csrf_token: str | None
