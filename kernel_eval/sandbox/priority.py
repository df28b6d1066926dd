"""Lets timed work go before whatever else a host does.

Two threads that wait for each other thousands of times per batch lose far more to a
busy neighbour than its share of the cores. A box is a session of its own, so on
hosts that weigh sessions against each other (`sched_autogroup`) the session is
favoured, elsewhere its processes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NICE = -15


def favour(pid: int) -> bool:
    """Let a process, its session and all that it will fork go first; False where we may not."""
    try:
        os.setpriority(os.PRIO_PROCESS, pid, NICE)
        group = Path(f"/proc/{pid}/autogroup")
        if group.exists():
            group.write_text(str(NICE))
    except OSError:
        return False
    return True


@contextmanager
def favoured() -> Iterator[None]:
    """Let this process go first for a while: it hears "done", and whatever delays it counts as the child's time."""
    before = os.getpriority(os.PRIO_PROCESS, 0)
    group = Path("/proc/self/autogroup")
    weight = group.read_text().rsplit(" ", 1)[-1].strip() if group.exists() else "0"
    changed = favour(os.getpid())
    try:
        yield
    finally:
        if changed:
            os.setpriority(os.PRIO_PROCESS, 0, before)
            if group.exists():
                group.write_text(weight)
