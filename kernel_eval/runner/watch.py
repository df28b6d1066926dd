"""Sees to it that no case changes the zygote, where both have the same user: a judge without root."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kernel_eval.errors import InternalError

START_TIME = 19
"""Place of a process's start time behind its name in `stat`."""


@dataclass(frozen=True)
class Condition:
    """Of a process all that another one of its user could change: limits, cores, weight, threads, being stopped."""

    started: str
    limits: str
    cores: frozenset[int]
    nice: int
    scheduler: int
    threads: str
    stopped: bool


def condition(pid: int) -> Condition:
    """How a process stands now. Raises `OSError` where it is gone."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    return Condition(
        started=words[START_TIME],
        limits=Path(f"/proc/{pid}/limits").read_text(),
        cores=frozenset(os.sched_getaffinity(pid)),
        nice=os.getpriority(os.PRIO_PROCESS, pid),
        scheduler=os.sched_getscheduler(pid),
        threads=next(line for line in status if line.startswith("Threads:")),
        stopped=words[0] in "tTZX",
    )


class Watch:
    """Compares the zygote with how it was when it greeted; once found changed, its box is used no more."""

    def __init__(self, pid: int, ended: Callable[[], bool]) -> None:
        """`ended` tells whether the box is gone."""
        self._pid, self._ended = pid, ended
        self._planned = condition(pid)
        self._fault = ""

    def fault(self) -> str:
        """What a case did to the zygote; empty where nothing. Looks anew each time."""
        if not self._fault:
            self._fault = self._look()
        return self._fault

    def _look(self) -> str:
        if self._ended():
            return "it ended the process that starts the cases"
        try:
            now = condition(self._pid)
        except OSError:
            return "it ended the process that starts the cases"
        changed = [name for name, value in vars(self._planned).items() if getattr(now, name) != value]
        return f"it changed the process that starts the cases: {', '.join(changed)}" if changed else ""

    def refuse_if_changed(self) -> None:
        """Raise `InternalError` where the box can't be trusted any more."""
        if fault := self.fault():
            raise InternalError(f"the box is used no more: of an earlier case, {fault}")
