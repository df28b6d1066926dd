"""What can be wrong with users and tokens."""

from __future__ import annotations

from app.errors import Conflict, NotFound


class UserExists(Conflict):
    """The name is taken."""

    slug = "user-exists"


class UserNotFound(NotFound):
    """There is no user of that name."""

    slug = "user-not-found"
