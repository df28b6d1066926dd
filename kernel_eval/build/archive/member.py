"""One entry of an archive, whatever its format."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum


class Kind(StrEnum):
    """What an entry is. Only files and folders are accepted."""

    FILE = "file"
    FOLDER = "folder"
    SYMLINK = "symbolic link"
    HARDLINK = "hard link"
    CHARACTER_DEVICE = "character device"
    BLOCK_DEVICE = "block device"
    FIFO = "named pipe"
    SOCKET = "socket"
    SPARSE = "sparse file"
    UNKNOWN = "entry of unknown type"


@dataclass(frozen=True)
class Member:
    """An entry as the archive states it. `name` is None where its bytes are no UTF-8.

    `data` yields the content once, and must be used up before the next entry.
    `problems` are faults that only the format's reader can see: pairs of rule and message.
    """

    raw_name: bytes
    name: str | None
    kind: Kind
    mode: int
    data: Iterator[bytes]
    problems: tuple[tuple[str, str], ...] = field(default=())

    @property
    def label(self) -> str:
        """The name for messages, with undecodable bytes escaped."""
        return self.name if self.name is not None else self.raw_name.decode("utf-8", "backslashreplace")
