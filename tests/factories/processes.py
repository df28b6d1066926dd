"""Processes as a test sees them from outside."""

from __future__ import annotations

from pathlib import Path

DEAD = frozenset("ZX")
"""A process that has ended and waits for its parent, and one that is just being taken off the list."""


def thread_states(pid: int) -> set[str]:
    """States of all threads of a process, by the kernel's letters. Raises `OSError` where it is gone."""
    threads = Path(f"/proc/{pid}/task").iterdir()
    return {(thread / "stat").read_text().rpartition(")")[2].split()[0] for thread in threads}


def gone(pid: int) -> bool:
    """Whether no thread of it will run any more, though its parent may not have asked for its end yet."""
    try:
        return thread_states(pid) <= DEAD
    except OSError:
        return True
