"""Where the worker's process pool keeps its own temporary files, so that a killed worker litters nobody's `/tmp`."""

from __future__ import annotations

import multiprocessing.util
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def pool_scratch(parent: Path) -> Iterator[Path]:
    """A folder below `parent` for the pool's files while the block runs.

    What workers that were killed left below `parent` is removed. Only the pool's files go there: whatever else
    takes the system's temporary folder, a lock between judges for one, stays with it.
    """
    parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    for left in parent.iterdir():
        if not _lives(left.name):
            shutil.rmtree(left, ignore_errors=True)
    own = parent / str(os.getpid())
    own.mkdir(mode=0o700)
    usual, tempfile.tempdir = tempfile.tempdir, str(own)
    try:
        multiprocessing.util.get_temp_dir()  # chosen once per process and kept for its children
    finally:
        tempfile.tempdir = usual
    try:
        yield own
    finally:
        shutil.rmtree(own, ignore_errors=True)


def _lives(name: str) -> bool:
    """Whether a folder's owner is another process that lives; one with our own number is of an earlier one."""
    return name != str(os.getpid()) and Path("/proc", name).is_dir()
