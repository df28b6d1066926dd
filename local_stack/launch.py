"""Becomes another program: own view of the file system, own user, dies with its parent.

Run as a script by `local_stack.process`, with the standard library alone, so
that it starts in milliseconds: `launch.py <order as JSON>`. The order names the
program (`argv`), its working folder, `uid` and `gid` or null, the death signal, the
parent's pid and the `covers` of `local_stack.reach`.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
from typing import Any

CLONE_NEWNS = 0x00020000
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS = 1, 38


def become(order: dict[str, Any]) -> None:
    """Replaces this process by the ordered program; returns never, raises OSError."""
    if order["covers"]:
        open_view(order["covers"])
    if order["uid"] is not None:
        os.setgroups([])
        os.setgid(order["gid"])
        os.setuid(order["uid"])
        _prctl(PR_SET_NO_NEW_PRIVS, 1)
    os.chdir(order["cwd"])
    _prctl(PR_SET_PDEATHSIG, order["death_signal"])
    if os.getppid() != order["parent"]:
        os.kill(os.getpid(), signal.SIGKILL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.execv(order["argv"][0], order["argv"])


def open_view(covers: dict[str, list[str]]) -> None:
    """Makes closed folders passable for this process alone, without touching them.

    In a mount namespace of its own, each closed folder (key) is covered by an
    empty one with mode 0755, into which only the needed paths (values, below the
    key) are bound again at their own places.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    _checked(libc.unshare(CLONE_NEWNS), "unshare")
    _mount(libc, "none", "/", None, MS_REC | MS_PRIVATE)
    for closed, needed in covers.items():
        handles = {path: os.open(path, os.O_PATH) for path in needed}
        _mount(libc, "tmpfs", closed, "tmpfs", 0, "mode=0755,size=1m")
        for path, handle in handles.items():
            _place(path, os.path.isdir(f"/proc/self/fd/{handle}"))
            _mount(libc, f"/proc/self/fd/{handle}", path, None, MS_BIND | MS_REC)
            os.close(handle)


def _place(path: str, folder: bool) -> None:
    previous = os.umask(0o022)
    try:
        os.makedirs(path if folder else os.path.dirname(path), mode=0o755, exist_ok=True)
        if not folder:
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o644))
    finally:
        os.umask(previous)


def _mount(libc: ctypes.CDLL, source: str, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    texts = [None if text is None else text.encode() for text in (source, target, kind, data)]
    _checked(libc.mount(texts[0], texts[1], texts[2], ctypes.c_ulong(flags), texts[3]), f"mount {target}")


def _prctl(option: int, value: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    _checked(libc.prctl(option, ctypes.c_ulong(value), *(ctypes.c_ulong(0),) * 3), "prctl")


def _checked(outcome: int, what: str) -> None:
    if outcome != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")


if __name__ == "__main__":
    become(json.loads(sys.argv[1]))
