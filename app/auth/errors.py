"""Why a request is not let through."""

from __future__ import annotations

from app.errors import Forbidden, Unauthenticated


class TokenInvalid(Unauthenticated):
    """The bearer token is unknown, expired or revoked."""

    slug = "token-invalid"

    def __init__(self) -> None:
        super().__init__("The token is unknown, expired or revoked. Make a new one with `hapboard token create`.")


class SignInNeeded(Unauthenticated):
    """The request needs somebody behind it."""

    slug = "sign-in-needed"

    def __init__(self) -> None:
        super().__init__("Send a token as `Authorization: Bearer …`, or sign in on the page.")


class ScopeMissing(Forbidden):
    """The token is good, but not for this."""

    slug = "scope-missing"

    def __init__(self, scope: str) -> None:
        super().__init__(f"The token lacks the scope `{scope}`. Make one that has it.")


class CsrfRefused(Forbidden):
    """A post with a session cookie that did not come from one of our own pages."""

    slug = "csrf-refused"

    def __init__(self) -> None:
        super().__init__("The form is out of date or did not come from this site. Load the page again and repeat.")
