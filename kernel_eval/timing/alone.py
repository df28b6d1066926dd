"""One judge of a host measures at a time: two that measure together measure each other."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LOCK_FOLDER = Path("/run/lock")


@contextmanager
def alone() -> Iterator[None]:
    """Hold the host's measuring lock; waits while another judge of this user holds it. A dead holder's lock is free."""
    descriptor = os.open(lock_path(), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def lock_path() -> Path:
    """Where the lock lies: one per user, since users can't hold each other's."""
    folder = LOCK_FOLDER if os.access(LOCK_FOLDER, os.W_OK) else Path(tempfile.gettempdir())
    return folder / f"hapboard-timing-{os.getuid()}.lock"
