"""Rule ids and limits of uploaded archives, and the ledger that collects faults."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from kernel_eval.errors import ArchiveRefused, Fault

MAX_FAULTS = 100
"""Faults listed in one refusal; further ones are counted only."""
MAX_SHOWN_CHARS = 120
"""Characters of a submitted name that a message repeats."""


class Rule(StrEnum):
    """One id per rule; ids are never reused."""

    UNKNOWN_FORMAT = "SUB-001"
    FORMAT_MISMATCH = "SUB-002"
    EMPTY = "SUB-003"
    ARCHIVE_TOO_LARGE = "SUB-004"
    DAMAGED = "SUB-005"
    TOO_MANY_ENTRIES = "SUB-006"
    UNPACKED_TOO_LARGE = "SUB-007"
    RATIO = "SUB-008"
    ABSOLUTE_PATH = "SUB-009"
    PARENT_PATH = "SUB-010"
    LINK = "SUB-011"
    SPECIAL_FILE = "SUB-012"
    SETUID = "SUB-013"
    NAME_ENCODING = "SUB-014"
    NAME_CHARACTERS = "SUB-015"
    NAME_LENGTH = "SUB-016"
    DEPTH = "SUB-017"
    DUPLICATE = "SUB-018"
    FILE_AS_FOLDER = "SUB-019"
    SPARSE = "SUB-020"
    ENCRYPTED = "SUB-021"
    UNSUPPORTED_ZIP = "SUB-022"
    NOTHING_TO_BUILD = "SUB-023"
    SEVERAL_FOLDERS = "SUB-024"
    BUILD_SCRIPT = "SUB-025"
    TRAILING_DATA = "SUB-026"


@dataclass(frozen=True)
class ArchiveLimits:
    """What an archive may hold. Sizes in bytes.

    `max_ratio` is unpacked over packed size; it is not looked at below
    `ratio_free_bytes` unpacked, since tiny files of zeros harm nobody.
    """

    max_archive_bytes: int = 64 << 20
    max_unpacked_bytes: int = 512 << 20
    max_entries: int = 5_000
    max_depth: int = 16
    max_path_bytes: int = 512
    max_name_bytes: int = 255
    max_ratio: int = 200
    ratio_free_bytes: int = 8 << 20


DEFAULT_LIMITS = ArchiveLimits()


class UnreadableError(Exception):
    """The archive can't be read any further; carries the rule that says why."""

    def __init__(self, rule: Rule, message: str, where: str = "") -> None:
        self.rule = rule
        self.where = where
        super().__init__(message)


@dataclass
class Ledger:
    """Collects faults until the whole archive has been looked at."""

    faults: list[Fault] = field(default_factory=list)
    total: int = 0

    def add(self, rule: Rule, where: str, message: str) -> None:
        """Note one fault of the entry named `where` ("" for the archive itself)."""
        self.total += 1
        if len(self.faults) < MAX_FAULTS:
            self.faults.append(Fault(rule.value, shown(where), message))

    def raise_if_any(self) -> None:
        """Raise `ArchiveRefused` with all faults, if there is one."""
        if not self.total:
            return
        dropped = self.total - len(self.faults)
        if dropped:
            last = self.faults[-1]
            self.faults.append(Fault(last.rule, "", f"{dropped} further faults are not listed; mend these first"))
        raise ArchiveRefused(self.faults)


def shown(name: str) -> str:
    """A submitted name made inert for messages: no control or bidi characters, bounded length."""
    inert = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in name)
    return inert if len(inert) <= MAX_SHOWN_CHARS else inert[: MAX_SHOWN_CHARS - 1] + "…"


def size_text(size_bytes: int) -> str:
    """Bytes for people: `64 MiB`, `1.5 KiB`, `12 bytes`."""
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size_bytes >= factor:
            return f"{size_bytes / factor:.4g} {unit}"
    return f"{size_bytes} bytes"
