"""A sized writable folder that lives in memory, is shared with one box and vanishes with its owner."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType


class Workspace:
    """A tmpfs without a place in the file tree, reached by the judge through its descriptor.

    `path` can be used with ordinary file functions **before** a box has run in it.
    Afterwards files leave it only through `read_file`, which refuses links, special
    files, several names and sizes above the cap.
    """

    def __init__(self, size_bytes: int, inodes: int = 100_000) -> None:
        raise NotImplementedError

    @property
    def path(self) -> Path:
        """The folder, for this process only."""
        raise NotImplementedError

    def list_files(self, folder: str) -> list[str]:
        """Names in a folder given relative to the workspace; empty where it does not exist."""
        raise NotImplementedError

    def read_file(self, relative: str, cap_bytes: int) -> bytes:
        """Content of a regular file with one name, at most `cap_bytes` long; `UnsafeFile` otherwise."""
        raise NotImplementedError

    def __enter__(self) -> Workspace:
        raise NotImplementedError

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        raise NotImplementedError
