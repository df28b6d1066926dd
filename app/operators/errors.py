"""What can be wrong with an operator's name."""

from __future__ import annotations

from app.errors import NotFound


class OperatorNotFound(NotFound):
    """There is no such operator."""

    slug = "operator-not-found"

    def __init__(self, name: str, suite: str | None) -> None:
        known = f"Suite {suite!r} has no operator {name!r}." if suite else f"There is no operator {name!r}."
        super().__init__(f"{known} `GET /api/v1/operators` lists them.")
