"""What can be wrong with an entry."""

from __future__ import annotations

from app.errors import NotFound


class EntryNotFound(NotFound):
    """There is no such entry."""

    slug = "entry-not-found"
