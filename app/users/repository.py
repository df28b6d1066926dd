"""SQL about users and tokens."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ColumnElement, Row, and_, or_, select
from sqlalchemy.orm import Session

from app.models import Token, User


def by_name(session: Session, name: str) -> User | None:
    """The user of that name."""
    return session.scalars(select(User).where(User.name == name)).first()


def by_hash(session: Session, token_hash: str, now: datetime) -> Row[Token, User] | None:
    """A good token by what is stored of it, and its user."""
    query = select(Token, User).join(User, User.id == Token.user_id)
    return session.execute(query.where(Token.hash == token_hash, _good(now))).first()


def by_token_id(session: Session, token_id: int, now: datetime) -> Row[Token, User] | None:
    """A good token by its id, and its user."""
    query = select(Token, User).join(User, User.id == Token.user_id)
    return session.execute(query.where(Token.id == token_id, _good(now))).first()


def _good(now: datetime) -> ColumnElement[bool]:
    return and_(Token.revoked_at.is_(None), or_(Token.expires_at.is_(None), Token.expires_at > now))
