"""Who uses the service: users, their tokens, and the entries they stand on boards with."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from sqlalchemy import ForeignKey, Index, UniqueConstraint, func
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, words_of


class UserKind(StrEnum):
    """What stands behind a user."""

    PERSON = "person"
    TEAM = "team"
    SERVICE = "service"


class User(Base):
    """Someone who may submit."""

    __tablename__ = "users"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    kind: Mapped[UserKind] = mapped_column(words_of(UserKind), default=UserKind.PERSON)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class Token(Base):
    """A bearer token, stored as the SHA-256 of its text; `prefix` lets its owner recognise it."""

    __tablename__ = "tokens"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    hash: Mapped[str] = mapped_column(unique=True)
    prefix: Mapped[str]
    scopes: Mapped[list[str]]
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())

    __table_args__ = (Index(None, "user_id"),)


class Entry(Base):
    """A user's standing on boards with one agent, model, harness and DSL; empty text where not given."""

    __tablename__ = "entries"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    name: Mapped[str]
    agent: Mapped[str] = mapped_column(default="")
    model: Mapped[str] = mapped_column(default="")
    harness: Mapped[str] = mapped_column(default="")
    dsl: Mapped[str] = mapped_column(default="")
    link: Mapped[str] = mapped_column(default="")
    note: Mapped[str] = mapped_column(default="")
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())

    __table_args__ = (UniqueConstraint("user_id", "agent", "model", "harness", "dsl"),)
