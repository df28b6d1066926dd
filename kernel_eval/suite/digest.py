"""Digests of task sets. Standard library only: the portal uses this too."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path


def digest_bytes(data: bytes) -> str:
    """SHA-256 of `data` as lower-case hex."""
    return hashlib.sha256(data).hexdigest()


def digest_contents(contents: Mapping[str, bytes], salt: bytes = b"") -> str:
    """One SHA-256 over named contents; the order of the mapping does not matter.

    Names and lengths are part of it, so nothing can move from one file into
    another unseen. With a `salt` nobody can try guessed contents against it.
    """
    total = hashlib.sha256(len(salt).to_bytes(8, "big") + salt)
    for name in sorted(contents):
        encoded = name.encode("utf-8")
        total.update(len(encoded).to_bytes(8, "big") + encoded)
        total.update(hashlib.sha256(contents[name]).digest())
    return total.hexdigest()


def digest_files(root: Path, paths: Iterable[Path]) -> str:
    """One SHA-256 over files below `root`, by their relative names and contents.

    Raises `OSError` where a file cannot be read, `ValueError` where one is not below `root`.
    """
    return digest_contents({path.relative_to(root).as_posix(): path.read_bytes() for path in paths})
