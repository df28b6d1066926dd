"""Work folders: one per attempt, named so that a leftover one is known as such."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.runs.lease import Lease

_NAME = re.compile(r"run-(\d+)-(\d+)")


@contextmanager
def work_folder(parent: Path, lease: Lease) -> Iterator[Path]:
    """A fresh private folder for this attempt; gone afterwards, whatever happened."""
    parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder = parent / f"run-{lease.run_id}-{lease.fence}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def attempts_on_disk(parent: Path) -> dict[tuple[int, int], Path]:
    """Work folders that exist, by run id and fencing number."""
    found = {}
    for folder in parent.iterdir() if parent.is_dir() else ():
        name = _NAME.fullmatch(folder.name)
        if name:
            found[int(name[1]), int(name[2])] = folder
    return found
