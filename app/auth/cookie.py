"""The signed session cookie of the web pages, and the CSRF token that belongs to it.

The cookie names the token that somebody signed in with; the database decides at
every request whether that token is still good. The CSRF token is a signature of
the session's own nonce, so a page of another origin cannot know it.
"""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass

from itsdangerous import BadSignature, Signer, URLSafeTimedSerializer

COOKIE = "hapboard_session"
CSRF_FIELD = "csrf_token"
CSRF_HEADER = "x-csrf-token"


@dataclass(frozen=True)
class WebSession:
    """Who is signed in on a page: by which token, in which session."""

    token_id: int
    nonce: str


@dataclass(frozen=True)
class CookieSigner:
    """Signs and reads session cookies with the service's secret key."""

    secret_key: str
    max_age_s: int

    def begin(self, token_id: int) -> str:
        """A cookie's value for a new session."""
        return self._serializer().dumps([token_id, secrets.token_hex(16)])

    def read(self, value: str) -> WebSession | None:
        """The session behind a cookie; None where it is forged, too old, or of another key."""
        try:
            token_id, nonce = self._serializer().loads(value, max_age=self.max_age_s)
        except (BadSignature, ValueError, TypeError):
            return None
        return WebSession(token_id, nonce) if isinstance(token_id, int) and isinstance(nonce, str) else None

    def csrf_token(self, session: WebSession) -> str:
        """What a form of this session must send back."""
        signature = Signer(self.secret_key, salt="hapboard.csrf").get_signature(session.nonce)
        return signature.decode()

    def csrf_matches(self, session: WebSession, sent: str | None) -> bool:
        """Whether `sent` is this session's CSRF token."""
        return sent is not None and hmac.compare_digest(self.csrf_token(session).encode(), sent.encode())

    def _serializer(self) -> URLSafeTimedSerializer:
        return URLSafeTimedSerializer(self.secret_key, salt="hapboard.session")
