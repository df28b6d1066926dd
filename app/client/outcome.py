"""The exit code of a command that waited: the judge's codes, for what the service says."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Any


class Exit(IntEnum):
    """What the command line ends with; the same numbers as `kernel-eval`'s."""

    PASSED = 0
    """Done; where it waited: published, every operator of the board solved and none on hold."""
    FAILED = 1
    """Judged, and something of it failed; or not published: held, cancelled, withdrawn."""
    USAGE = 2
    """The call cannot be used: an option, address, token, name, field or archive is wrong."""
    OURS = 3
    """The service failed, can't be reached, or took longer than the time given."""


def settled_exit(view: Mapping[str, Any], result: Mapping[str, Any] | None) -> Exit:
    """The exit code for a settled submission with its result, where it has one."""
    operators = result["operators"] if result else []
    if view["status"] == "failed" or any(row["verdict"] == "internal_error" for row in operators):
        return Exit.OURS
    solved = bool(operators) and all(row["solved"] and row["publication"] != "held" for row in operators)
    return Exit.PASSED if view["status"] == "published" and solved else Exit.FAILED
