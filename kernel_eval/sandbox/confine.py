"""Gives up every power in the process that calls it. Standard library only: it runs inside a box."""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Mapping

PR_CAPBSET_DROP, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT, PR_SET_DUMPABLE = 24, 22, 38, 47, 4
PR_CAP_AMBIENT_CLEAR_ALL, SECCOMP_MODE_FILTER = 4, 2
CAPABILITY_VERSION = 0x20080522


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


def confine(uid: int, limits: Mapping[int, int], extra_filter: bytes = b"") -> None:
    """Become the powerless user `uid` with hard `limits` (resource number → value) for good.

    Leaves no capability in any of the five sets, sets no_new_privs and stacks `extra_filter`
    on the box's own seccomp filter. Raises `OSError` at the first step that fails.
    """
    import resource

    libc = ctypes.CDLL(None, use_errno=True)
    for kind, value in limits.items():
        resource.setrlimit(kind, (value, value))
    os.umask(0o077)
    _drop_bounding_set(libc)
    _prctl(libc, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    _clear_capabilities(libc)
    _prctl(libc, PR_SET_NO_NEW_PRIVS, 1)
    if extra_filter:
        _load_filter(libc, extra_filter)
