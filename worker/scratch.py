"""Where the worker's process pool keeps its own temporary files, so that a killed worker litters nobody's `/tmp`."""

from __future__ import annotations

import multiprocessing.util
import os
import shutil
import tempfile
from pathlib import Path

LAST = -101
"""Behind the removal of the pool's own folder, which `multiprocessing` does with -100 when the process ends."""


def use_scratch(parent: Path) -> None:
    """Let the pool keep its files in a folder of this process below `parent`, until it ends.

    What workers that were killed left below `parent` is removed. Only the pool's files go there: whatever else
    takes the system's temporary folder, a lock between judges for one, stays with it.
    """
    parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    for left in parent.iterdir():
        if not _lives(left.name):
            shutil.rmtree(left, ignore_errors=True)
    own = parent / str(os.getpid())
    own.mkdir(mode=0o700)
    multiprocessing.util.Finalize(None, shutil.rmtree, (own,), {"ignore_errors": True}, exitpriority=LAST)
    usual, tempfile.tempdir = tempfile.tempdir, str(own)
    try:
        multiprocessing.util.get_temp_dir()  # chosen once per process and kept for its children
    finally:
        tempfile.tempdir = usual


def _lives(name: str) -> bool:
    """Whether a folder's owner is another process that lives; one with our own number is of an earlier one."""
    return name != str(os.getpid()) and Path("/proc", name).is_dir()
