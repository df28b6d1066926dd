"""Finds the local stack that `make up` runs in this clone, by its state file `state.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernel_eval.errors import UsageError

PROJECT = Path(__file__).resolve().parents[2]
FOLDER_VARIABLE = "HAPBOARD_VAR"
"""Names the stack's folder where it is not `var/` of the clone."""


@dataclass(frozen=True)
class LocalStack:
    """A running stack: its folder and the portal's address."""

    folder: Path
    address: str

    def token(self) -> str:
        """The first user's token. Raises `UsageError` where it can't be read."""
        path = self.folder / "token"
        try:
            return path.read_text(encoding="ascii").strip()
        except FileNotFoundError:
            return ""
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(
                f"{path} cannot be read ({_reason(error)}); call this as the user who ran `make up`, "
                "or set HAPBOARD_URL and HAPBOARD_TOKEN"
            ) from error


def find_stack(environment: Mapping[str, str], folder: Path) -> LocalStack | None:
    """The stack to talk to from within `folder`; None outside the clone and where none was ever started.

    Raises `UsageError` where there is one that does not run: a port it once had may be another program's by now.
    """
    chosen = environment.get(FOLDER_VARIABLE)
    if not chosen and not folder.resolve().is_relative_to(PROJECT):
        return None
    place = Path(chosen).absolute() if chosen else PROJECT / "var"
    state = _state(place / "state.json")
    if state is None:
        return None
    if not _runs(state):
        raise UsageError(f"the local stack in {place} does not run; start it with `make up`, or set HAPBOARD_URL")
    if state.get("ready") is not True:
        raise UsageError(f"the local stack in {place} is still starting; wait until `make up` prints its board")
    return LocalStack(place, str(state.get("address", "")))


def _state(path: Path) -> dict[str, Any] | None:
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read ({_reason(error)}); set HAPBOARD_URL and HAPBOARD_TOKEN") from error
    if not isinstance(state, dict):
        raise UsageError(f"{path} is damaged; remove it after `make down`")
    return state


def _runs(state: Mapping[str, Any]) -> bool:
    """Whether the process that wrote it still lives, and is not a later one with its number."""
    pid, begun = state.get("supervisor"), state.get("started_ticks")
    if not isinstance(pid, int) or pid <= 0:
        return False
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return False
    return fields[0] not in "ZX" and int(fields[19]) == begun


def _reason(error: Exception) -> str:
    return (error.strerror or type(error).__name__) if isinstance(error, OSError) else "it is damaged"
