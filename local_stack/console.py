"""What the terminal shows: one line per step with its time, nothing else."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich.console import Console
from rich.markup import escape
from rich.status import Status

LOG_COLUMNS = 100


@dataclass
class Step:
    """A running step; `detail` is shown beside its name once it is done."""

    name: str
    spinner: Status
    detail: str = ""

    def update(self, text: str) -> None:
        """What the step is at, shown while it runs."""
        self.spinner.update(f"{self.name} … {escape(text)}")


def plain_console(*, stderr: bool = False) -> Console:
    """A console that never breaks lines by itself; where nobody watches it is wide enough for a table."""
    console = Console(stderr=stderr, highlight=False, soft_wrap=True)
    if not console.is_terminal:
        console.width = LOG_COLUMNS
    return console


@dataclass(frozen=True)
class Screen:
    """Writes steps and notes; a spinner only where somebody is watching."""

    console: Console = field(default_factory=plain_console)

    @contextmanager
    def step(self, name: str) -> Iterator[Step]:
        """Shows the step while it runs, and its time when it is done."""
        began = time.monotonic()
        try:
            with self.console.status(f"{name} …") as spinner:
                step = Step(name, spinner)
                yield step
        except Exception:
            self.console.print(f"[red]  ✗[/] {name}")
            raise
        except BaseException:
            self.console.print(f"[yellow]  –[/] {name:<28}[dim]interrupted[/]")
            raise
        seconds = time.monotonic() - began
        self.console.print(f"[green]  ✓[/] {name:<28}[dim]{seconds:6.1f} s[/]  {escape(step.detail)}")

    def say(self, text: str) -> None:
        """One line of rich markup."""
        self.console.print(text)

    def fault(self, text: str) -> None:
        """What went wrong and what to do about it; plain text."""
        self.console.print(f"[bold red]  ✗[/] {escape(text)}")
