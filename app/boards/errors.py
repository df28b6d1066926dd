"""What can be wrong with a request for a board."""

from __future__ import annotations

from app.errors import NotFound, Refused


class BoardNotFound(NotFound):
    """There is no such board."""

    slug = "board-not-found"

    def __init__(self, slug: str) -> None:
        super().__init__(f"There is no board {slug!r}. `GET /api/v1/boards` lists them.")


class OperatorNotOnBoard(NotFound):
    """The board's suite has no such operator."""

    slug = "operator-not-on-board"

    def __init__(self, operator: str, slug: str) -> None:
        super().__init__(f"Board {slug!r} has no operator {operator!r}.")


class CursorInvalid(Refused):
    """The cursor is none that a page of standings gave."""

    slug = "cursor-invalid"

    def __init__(self) -> None:
        super().__init__("The cursor is none of ours. Start without one and use `next_cursor` as it is.")
