"""Which folders stand between another user and the files it needs.

A clone below `/root` (mode 0700) can't be entered by the unprivileged users of
the stack. Nobody's folder is opened for that: `launch.py` gives the process a
view of its own, in which the closed folders are covered; this module says which.
"""

from __future__ import annotations

import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Identity:
    """The user and group that a process runs as."""

    uid: int
    gid: int


def covers_for(needed: Iterable[Path], identity: Identity) -> dict[str, list[str]]:
    """Closed folders to cover, each with the paths to show in it again.

    A needed folder that is itself closed is covered too, and its children are
    shown. A needed folder whose content is closed as well can't be helped.
    """
    covers: dict[str, list[str]] = {}
    for path in sorted({path.resolve() for path in needed}):
        if any(path.is_relative_to(shown) for paths in covers.values() for shown in paths):
            continue
        closed = first_closed(path, identity)
        if closed is not None:
            shown = [path] if not path.is_dir() or may_pass(path, identity) else sorted(path.iterdir())
            covers.setdefault(str(closed), []).extend(str(item) for item in shown if not item.is_symlink())
    return covers


def first_closed(path: Path, identity: Identity) -> Path | None:
    """The outermost folder on the way to `path` (or it itself) that `identity` can't pass."""
    for folder in [*reversed(path.parents), path]:
        if folder.is_dir() and not may_pass(folder, identity):
            return folder
    return None


def may_pass(folder: Path, identity: Identity) -> bool:
    """Whether `identity` may read and enter `folder` by its mode bits."""
    status = folder.stat()
    if status.st_uid == identity.uid:
        wanted = stat.S_IRUSR | stat.S_IXUSR
    elif status.st_gid == identity.gid:
        wanted = stat.S_IRGRP | stat.S_IXGRP
    else:
        wanted = stat.S_IROTH | stat.S_IXOTH
    return status.st_mode & wanted == wanted
