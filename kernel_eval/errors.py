"""What can go wrong that is not a verdict on a candidate.

    JudgeError            base of all
    ├── UsageError        the caller asked for something impossible (exit 2)
    │   ├── SuiteInvalid  a task set has faults; carries all of them
    │   └── ArchiveRefused  an upload breaks archive rules; carries all of them
    ├── EvaluationStopped  the caller asked to stop; nothing is said of the candidate
    └── InternalError     our fault: never scored, retried, alerts (exit 3)
        ├── SandboxIncomplete  a part of the sandbox is missing; names it and the fix
        ├── GoldenFault   a golden raised, or broke its own declaration
        └── NotMeasured   a time could not be taken

What a candidate does wrong is no exception: it is a `kernel_eval.model.Verdict`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """One named fault of an input: which rule, where, what to do about it."""

    rule: str
    where: str
    message: str

    def __str__(self) -> str:
        return f"{self.rule} {self.where}: {self.message}" if self.where else f"{self.rule}: {self.message}"


class JudgeError(Exception):
    """Base of everything the judge raises on purpose."""


class UsageError(JudgeError):
    """The caller's input cannot be used; the message says what, where, what to do."""


class Faulty(UsageError):
    """An input with one or more faults, all of them found before anything is done."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))


class SuiteInvalid(Faulty):
    """A task set breaks its schema."""


class ArchiveRefused(Faulty):
    """An upload breaks the archive rules (`SUB-…`)."""


class EvaluationStopped(JudgeError):
    """The caller's `should_stop` said so between two cases."""


class InternalError(JudgeError):
    """A fault of ours; the candidate is not to blame and is not scored for it."""


class SandboxIncomplete(InternalError):
    """A part of the sandbox is missing, so no untrusted code may run."""

    def __init__(self, part: str, fix: str) -> None:
        self.part = part
        self.fix = fix
        super().__init__(f"sandbox incomplete: {part}. {fix}")


class GoldenFault(InternalError):
    """A golden raised, yielded an undeclared NaN or Inf, or broke its declared shape or dtype."""


class NotMeasured(InternalError):
    """A time could not be taken although the candidate did its work."""
