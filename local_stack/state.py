"""The state file: lets `down`, `demo` and `status` find a running stack."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from local_stack.layout import Layout
from local_stack.process import StackError


@dataclass(frozen=True)
class State:
    """Ports and process ids of a stack. `supervisor` 0 means that it is stopped."""

    supervisor: int = 0
    started_ticks: int = 0
    ports: dict[str, int] = field(default_factory=dict)
    pids: dict[str, int] = field(default_factory=dict)
    address: str = ""
    board: str = ""
    ready: bool = False

    @property
    def running(self) -> bool:
        """Whether the supervisor that wrote this still lives (a later process with its id does not count)."""
        return self.supervisor > 0 and start_ticks(self.supervisor) == self.started_ticks


def load_state(layout: Layout) -> State:
    """The last written state; an empty one where there is none."""
    try:
        return State(**json.loads(layout.state.read_text()))
    except FileNotFoundError:
        return State()
    except (ValueError, TypeError) as error:
        raise StackError(f"{layout.state} is damaged ({error}); remove it after stopping the stack") from error


def save_state(layout: Layout, state: State) -> None:
    """Replaces the state file at once."""
    fresh = layout.state.with_suffix(".new")
    fresh.write_text(json.dumps(asdict(state), indent=2) + "\n")
    fresh.rename(layout.state)


def start_ticks(pid: int) -> int | None:
    """When the process started, in clock ticks since boot; None where it has ended."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = text.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else int(fields[19])


@contextmanager
def sole_supervisor(layout: Layout) -> Iterator[None]:
    """Holds the folder's lock; `StackError` where another supervisor has it."""
    with layout.lock.open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StackError(f"another stack is running on {layout.var}; stop it with: make down") from None
        yield
