"""Users and tokens as they are shown."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel


class UserView(BaseModel):
    """A user."""

    id: int
    name: str
    kind: str
    created_at: datetime


class NewTokenView(BaseModel):
    """A token at the only moment when its text is known."""

    token: str
    prefix: str
    user: str
    scopes: list[str]
    expires_at: datetime | None
