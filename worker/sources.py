"""Digests of an operator's sources: tells whether two runs measured the same code."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path


def source_digests(source_dir: Path, operators: Iterable[str]) -> dict[str, str]:
    """Per operator, the SHA-256 over its own files and those that belong to no single operator.

    A file belongs to an operator when a folder on its path has the operator's
    name (`csrc/ops/<operator>/…`). Paths and contents count, times and modes don't.
    """
    names = frozenset(operators)
    files = [(path, _owner(path, names), _digest(source_dir / path)) for path in _files(source_dir)]
    return {name: _combined((path, digest) for path, owner, digest in files if owner in (None, name)) for name in names}


def _files(source_dir: Path) -> list[str]:
    found = []
    for folder, _, names in os.walk(source_dir):
        found += [Path(folder, name).relative_to(source_dir).as_posix() for name in names]
    return sorted(found)


def _owner(path: str, names: frozenset[str]) -> str | None:
    return next((part for part in path.split("/")[:-1] if part in names), None)


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _combined(entries: Iterable[tuple[str, str]]) -> str:
    whole = hashlib.sha256()
    for path, digest in entries:
        whole.update(f"{path}\0{digest}\n".encode())
    return whole.hexdigest()
