"""A folder of immutable files, each named by its SHA-256.

A file is staged first: written while it is hashed, bounded in size, and gone
again unless it is kept. Keeping is one atomic rename of a file that is safely on
disk, so that a reader sees a whole file or none.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

_DIGEST = re.compile(r"[0-9a-f]{64}")
_STALE_AFTER_S = 24 * 3600


class TooLarge(Exception):
    """More bytes than the limit; nothing of them is left once the stage is closed."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        super().__init__(f"more than {max_bytes} bytes")


@dataclass
class StagedFile:
    """A file being received. `write` raises `TooLarge` before a byte beyond the limit is written."""

    path: Path
    max_bytes: int
    file: BinaryIO
    size_bytes: int = 0
    _hash: hashlib._Hash = field(default_factory=hashlib.sha256)

    def write(self, data: bytes | memoryview) -> None:
        """Append `data`, hashing it."""
        if self.size_bytes + len(data) > self.max_bytes:
            raise TooLarge(self.max_bytes)
        self.file.write(data)
        self._hash.update(data)
        self.size_bytes += len(data)

    @property
    def sha256(self) -> str:
        """Digest of what was written so far, in lower-case hexadecimal."""
        return self._hash.hexdigest()


@dataclass(frozen=True)
class FileStore:
    """Files below `root`: `incoming/` for stages, `sha256/ab/abcd…` for kept ones."""

    root: Path

    @contextmanager
    def stage(self, max_bytes: int) -> Iterator[StagedFile]:
        """A new stage; whatever happens, it is gone after the block unless it was kept."""
        incoming = self.root / "incoming"
        incoming.mkdir(parents=True, exist_ok=True)
        path = incoming / secrets.token_hex(16)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with open(descriptor, "w+b") as file:
                yield StagedFile(path, max_bytes, file)
        finally:
            path.unlink(missing_ok=True)

    def keep(self, staged: StagedFile) -> Path:
        """Put the staged file into its place; a file of the same content that is there is replaced by itself."""
        target = self.path(staged.sha256)
        target.parent.mkdir(parents=True, exist_ok=True)
        staged.file.flush()
        os.fsync(staged.file.fileno())
        os.chmod(staged.path, 0o644)
        os.replace(staged.path, target)
        _sync_folder(target.parent)
        return target

    def path(self, sha256: str) -> Path:
        """Where the file of that digest lies, if it is kept; `ValueError` for what is no digest."""
        if not _DIGEST.fullmatch(sha256):
            raise ValueError("a SHA-256 has 64 lower-case hexadecimal digits")
        return self.root / "sha256" / sha256[:2] / sha256

    def open(self, sha256: str) -> BinaryIO:
        """The kept file, for reading; raises `FileNotFoundError`."""
        return self.path(sha256).open("rb")

    def remove_stale(self, now_s: float | None = None) -> int:
        """Remove stages that a killed process left more than a day ago; returns their number."""
        deadline = (time.time() if now_s is None else now_s) - _STALE_AFTER_S
        incoming = self.root / "incoming"
        stale = [path for path in incoming.glob("*") if path.stat().st_mtime < deadline] if incoming.is_dir() else []
        for path in stale:
            path.unlink(missing_ok=True)
        return len(stale)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
