"""Reads a foreign folder: plain files below it, no links, nothing large, and never anything outside."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from kernel_eval.suite.faults import FaultList

MIB = 1 << 20
MOST_ENTRIES, MOST_BYTES = 20_000, 256 * MIB


class SourceTree:
    """A folder that somebody else wrote. What cannot be read becomes a fault that names file and remedy."""

    def __init__(self, root: Path, faults: FaultList) -> None:
        self.root, self.faults = root, faults
        self._seen = self._read_bytes = 0
        self._known: dict[str, list[os.DirEntry[str]]] = {}

    def folders(self, place: str = "") -> tuple[str, ...]:
        """Names of the folders in a folder, sorted; hidden ones are left out."""
        return tuple(entry.name for entry in self._entries(place) if entry.is_dir(follow_symlinks=False))

    def files(self, place: str) -> tuple[str, ...]:
        """Names of the plain files in a folder, sorted; a link is a fault."""
        return tuple(entry.name for entry in self._entries(place) if not entry.is_dir(follow_symlinks=False))

    def read(self, path: str, most_bytes: int = MIB) -> bytes | None:
        """The content of a plain file; None, and a fault, where it is none or too large."""
        try:
            descriptor = os.open(self.root / path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            link = (self.root / path).is_symlink()
            said = "is a symbolic link; put the file itself there" if link else f"cannot be read: {error.strerror}"
            self.faults.add("import.file", path, said)
            return None
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                self.faults.add("import.file", path, "is no plain file; remove it or put a file there")
                return None
            content = file.read(most_bytes + 1)
        self._read_bytes += len(content)
        if self._read_bytes > MOST_BYTES:
            self.faults.add("import.size", path, f"the tree has more than {MOST_BYTES // MIB} MiB; import a part of it")
            self.faults.refuse()
        if len(content) > most_bytes:
            self.faults.add("import.size", path, f"is larger than {most_bytes // MIB} MiB; shorten it")
            return None
        return content

    def text(self, path: str, most_bytes: int = MIB) -> str | None:
        """The same as text in UTF-8."""
        content = self.read(path, most_bytes)
        try:
            return None if content is None else content.decode("utf-8")
        except UnicodeDecodeError as error:
            self.faults.add("import.encoding", path, f"is no UTF-8 at byte {error.start}; save it as UTF-8")
            return None

    def _entries(self, place: str) -> list[os.DirEntry[str]]:
        """Looked at once, so that every fault is named once."""
        if place not in self._known:
            self._known[place] = self._looked(place)
        return self._known[place]

    def _looked(self, place: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(self.root / place) as found:
                entries = sorted((entry for entry in found if not entry.name.startswith(".")), key=lambda e: e.name)
        except OSError as error:
            self.faults.add("import.folder", place or ".", f"cannot be read: {error.strerror}")
            return []
        self._seen += len(entries)
        if self._seen > MOST_ENTRIES:
            self.faults.add(
                "import.size", place or ".", f"the tree has more than {MOST_ENTRIES} entries; import a part"
            )
            self.faults.refuse()
        for entry in entries:
            where = f"{place}/{entry.name!r:.80}" if place else f"{entry.name!r:.80}"
            if not entry.name.isprintable():
                self.faults.add("import.name", where, "is no name that can be shown; rename it")
            elif entry.is_symlink() and entry.is_dir():
                self.faults.add("import.file", where, "is a symbolic link to a folder; put the folder itself there")
        return [entry for entry in entries if entry.name.isprintable()]
