"""What can be wrong with an operator's name."""

from __future__ import annotations

from app.errors import NotFound


class OperatorNotFound(NotFound):
    """There is no such operator."""

    slug = "operator-not-found"

    def __init__(self, name: str, suite: str | None) -> None:
        where = f"Suite {suite!r}" if suite else "No suite"
        super().__init__(f"{where} has no operator {name!r}. `GET /api/v1/operators` lists them.")
