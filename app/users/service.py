"""Make users and tokens, and find out who a token belongs to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from app.auth.tokens import Scope, effective_scopes, fresh_token, token_hash, well_formed
from app.models import Token, User, UserKind
from app.users import repository
from app.users.errors import UserExists, UserNotFound
from app.users.schemas import NewTokenView, UserView


@dataclass(frozen=True)
class Known:
    """Somebody known by a good token, and what that token allows."""

    user_id: int
    user: str
    token_id: int
    scopes: frozenset[Scope]


def create_user(session: Session, name: str, kind: UserKind = UserKind.PERSON) -> UserView:
    """Make a user; raises `UserExists`."""
    if repository.by_name(session, name) is not None:
        raise UserExists(f"A user named {name!r} exists. Choose another name.")
    user = User(name=name, kind=kind)
    session.add(user)
    session.flush()
    session.refresh(user)
    return UserView(id=user.id, name=user.name, kind=user.kind.value, created_at=user.created_at)


def create_token(
    session: Session, user_name: str, scopes: Iterable[Scope], now: datetime, lifetime: timedelta | None
) -> NewTokenView:
    """Make a token for a user; its text is in the answer and nowhere else. Raises `UserNotFound`."""
    user = repository.by_name(session, user_name)
    if user is None:
        raise UserNotFound(f"There is no user named {user_name!r}. Make one with `hapboard user create`.")
    fresh = fresh_token()
    words = sorted({scope.value for scope in scopes})
    expires_at = now + lifetime if lifetime is not None else None
    session.add(Token(user_id=user.id, hash=fresh.hash, prefix=fresh.prefix, scopes=words, expires_at=expires_at))
    return NewTokenView(token=fresh.text, prefix=fresh.prefix, user=user.name, scopes=words, expires_at=expires_at)


def known_by_token(session: Session, text: str, now: datetime) -> Known | None:
    """Who a bearer token's text belongs to; None where it is no good token."""
    if not well_formed(text):
        return None
    row = repository.by_hash(session, token_hash(text), now)
    return _known(row[0], row[1]) if row else None


def known_by_session(session: Session, token_id: int, now: datetime) -> Known | None:
    """Who is signed in by that token; None where it is good no more."""
    row = repository.by_token_id(session, token_id, now)
    return _known(row[0], row[1]) if row else None


def _known(token: Token, user: User) -> Known:
    return Known(user.id, user.name, token.id, effective_scopes(token.scopes))
