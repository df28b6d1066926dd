"""The text of bearer tokens and what is stored of them. Pure, but for fresh randomness.

A token reads `hapb_<prefix>_<secret>`. The secret has 256 bits, so a plain
SHA-256 of the whole text is enough to store it safely.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from dataclasses import dataclass
from enum import StrEnum

_TEXT = re.compile(r"hapb_([0-9a-f]{8})_[A-Za-z0-9_-]{43}")


class Scope(StrEnum):
    """What a token may be used for."""

    READ = "read"
    """See one's own private submissions."""
    SUBMIT = "submit"
    """Submit and cancel; includes reading."""
    ADMIN = "admin"
    """Everything."""


IMPLIES = {
    Scope.READ: frozenset({Scope.READ}),
    Scope.SUBMIT: frozenset({Scope.READ, Scope.SUBMIT}),
    Scope.ADMIN: frozenset(Scope),
}


@dataclass(frozen=True)
class FreshToken:
    """A new token: `text` is shown once and never stored."""

    text: str
    prefix: str
    hash: str


def fresh_token() -> FreshToken:
    """Make a token from the system's randomness."""
    prefix = secrets.token_hex(4)
    text = f"hapb_{prefix}_{secrets.token_urlsafe(32)}"
    return FreshToken(text, prefix, token_hash(text))


def token_hash(text: str) -> str:
    """What is stored of a token."""
    return hashlib.sha256(text.encode()).hexdigest()


def well_formed(text: str) -> bool:
    """Whether the text can be a token at all."""
    return _TEXT.fullmatch(text) is not None


def effective_scopes(scopes: list[str]) -> frozenset[Scope]:
    """Everything that the stored scopes allow; unknown words allow nothing."""
    known = [scope for scope in Scope if scope.value in scopes]
    return frozenset().union(*(IMPLIES[scope] for scope in known))
