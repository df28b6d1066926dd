"""Gives up every power in the process that calls it. Standard library only: it runs inside a box."""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Mapping

PR_CAPBSET_DROP, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT, PR_SET_DUMPABLE = 24, 22, 38, 47, 4
PR_CAP_AMBIENT_CLEAR_ALL, SECCOMP_MODE_FILTER = 4, 2
CAPABILITY_VERSION = 0x20080522
OWN_PID = 0x5EAC0DE5
"""Stands in a filter for the pid of the process that will load it."""


class _Program(ctypes.Structure):
    """`struct sock_fprog` of the kernel."""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def _prctl(libc: ctypes.CDLL, option: int, *arguments: object) -> None:
    values = (*arguments, 0, 0, 0, 0)[:4]
    words = [value if isinstance(value, ctypes.c_void_p) else ctypes.c_ulong(int(str(value))) for value in values]
    if libc.prctl(option, *words):
        code = ctypes.get_errno()
        raise OSError(code, f"prctl {option}: {os.strerror(code)}")


def _drop_bounding_set(libc: ctypes.CDLL) -> None:
    with open("/proc/sys/kernel/cap_last_cap") as file:
        last = int(file.read())
    for capability in range(last + 1):
        _prctl(libc, PR_CAPBSET_DROP, capability)


def _clear_capabilities(libc: ctypes.CDLL) -> None:
    header = struct.pack("=Ii", CAPABILITY_VERSION, 0)
    if libc.capset(header, bytes(24)):
        code = ctypes.get_errno()
        raise OSError(code, f"capset: {os.strerror(code)}")


def _load_filter(libc: ctypes.CDLL, program: bytes) -> None:
    buffer = ctypes.create_string_buffer(program, len(program))
    description = _Program(len(program) // 8, ctypes.cast(buffer, ctypes.c_void_p).value)
    _prctl(libc, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.c_void_p(ctypes.addressof(description)))


def close_memory() -> None:
    """Let no process of the same user look into this one or into what it forks: memory, maps, environment, files."""
    _prctl(ctypes.CDLL(None, use_errno=True), PR_SET_DUMPABLE, 0)


def filter_for(program: bytes, pid: int) -> bytes:
    """A filter in which every comparison with `OWN_PID` has become one with `pid`."""
    instructions = [struct.unpack_from("=HBBI", program, place) for place in range(0, len(program), 8)]
    return b"".join(struct.pack("=HBBI", *rest, pid if value == OWN_PID else value) for *rest, value in instructions)


def _has_bounding_set() -> bool:
    with open("/proc/self/status") as file:
        return any(line.startswith("CapBnd:") and int(line.split()[1], 16) for line in file)


def _become(libc: ctypes.CDLL, uid: int) -> None:
    """Change to a user of its own, which takes root's rights."""
    _drop_bounding_set(libc)
    _prctl(libc, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def _remain(libc: ctypes.CDLL) -> None:
    """Without root: the box's only user stays, has lost all rights already, and is closed to its likes."""
    if _has_bounding_set():
        raise PermissionError("the bounding set is not empty")
    _prctl(libc, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    _prctl(libc, PR_SET_DUMPABLE, 0)


def confine(uid: int, limits: Mapping[int, int], extra_filter: bytes = b"") -> None:
    """Become the powerless user `uid` with hard `limits` (resource number → value) for good.

    Leaves no capability in any of the five sets, sets no_new_privs and stacks `extra_filter`
    on the box's own seccomp filter. Where `uid` is this user already (a judge without root), the filter has
    to make up for the common user; its `OWN_PID` becomes this process. Raises `OSError` at the first step that fails.
    """
    import resource

    libc = ctypes.CDLL(None, use_errno=True)
    for kind, value in limits.items():
        resource.setrlimit(kind, (value, value))
    os.umask(0o077)
    if os.getuid() == uid:
        _remain(libc)
        extra_filter = filter_for(extra_filter, os.getpid())
    else:
        _become(libc, uid)
    _clear_capabilities(libc)
    _prctl(libc, PR_SET_NO_NEW_PRIVS, 1)
    if extra_filter:
        _load_filter(libc, extra_filter)
