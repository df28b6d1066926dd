"""Linux system calls that the standard library lacks. Numbers are the same on every 64-bit architecture."""

from __future__ import annotations

import ctypes
import functools
import os
import struct

MOVE_MOUNT, FSOPEN, FSCONFIG, FSMOUNT, OPENAT2 = 429, 430, 431, 432, 437
FSCONFIG_SET_STRING, FSCONFIG_CREATE = 1, 6
FSOPEN_CLOEXEC = FSMOUNT_CLOEXEC = 1
MOUNT_NOSUID, MOUNT_NODEV = 0x2, 0x4
MOVE_FROM_EMPTY_PATH = 0x4
AT_FDCWD = -100
CLONE_NEWNS = 0x00020000
CLONE_NEWUSER = 0x10000000
MS_REC, MS_PRIVATE = 0x4000, 0x40000
RESOLVE_NO_XDEV, RESOLVE_NO_MAGICLINKS, RESOLVE_NO_SYMLINKS, RESOLVE_BENEATH = 1, 2, 4, 8
PR_SET_PDEATHSIG = 1


@functools.cache
def libc() -> ctypes.CDLL:
    """The process's own C library, with `errno` kept per thread."""
    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def _call(what: str, number: int, *arguments: object) -> int:
    return _checked(int(libc().syscall(number, *arguments)), what)


def detached_tmpfs(size_bytes: int, inodes: int) -> int:
    """Descriptor of a new tmpfs that is mounted nowhere and vanishes with its last user. Needs CAP_SYS_ADMIN."""
    context = _call("fsopen", FSOPEN, b"tmpfs", FSOPEN_CLOEXEC)
    try:
        for key, value in (("size", size_bytes), ("nr_inodes", inodes), ("mode", "1777")):
            _call("fsconfig", FSCONFIG, context, FSCONFIG_SET_STRING, key.encode(), str(value).encode(), 0)
        _call("fsconfig", FSCONFIG, context, FSCONFIG_CREATE, None, None, 0)
        return _call("fsmount", FSMOUNT, context, FSMOUNT_CLOEXEC, MOUNT_NOSUID | MOUNT_NODEV)
    finally:
        os.close(context)


def attach_mount(descriptor: int, target: str) -> None:
    """Put a detached mount at `target` in this process's mount namespace."""
    _call("move_mount", MOVE_MOUNT, descriptor, b"", AT_FDCWD, target.encode(), MOVE_FROM_EMPTY_PATH)


def enter_user_namespace() -> None:
    """Become root of a new user namespace in which only this user and group exist. Needs one thread."""
    uid, gid = os.geteuid(), os.getegid()
    _checked(libc().unshare(CLONE_NEWUSER), "unshare the user namespace")
    for name, content in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(content)


def private_mounts() -> None:
    """Give this process its own mount namespace, from which nothing spreads to the host."""
    _checked(libc().unshare(CLONE_NEWNS), "unshare")
    _checked(libc().mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None), "mount --make-rprivate")


def mount_tmpfs(target: str, options: str) -> None:
    """Mount a tmpfs at an existing folder."""
    _checked(libc().mount(b"tmpfs", target.encode(), b"tmpfs", MOUNT_NOSUID | MOUNT_NODEV, options.encode()), "mount")


def die_with_parent(signal_number: int) -> None:
    """Ask the kernel for `signal_number` when the thread that started this process ends."""
    _checked(libc().prctl(PR_SET_PDEATHSIG, signal_number, 0, 0, 0), "prctl")


def open_beneath(folder: int, relative: str, flags: int) -> int:
    """Open a path below `folder` that crosses no link of any kind and no mount. Raises `OSError`."""
    resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV
    how = struct.pack("=QQQ", flags | os.O_CLOEXEC, 0, resolve)
    return _call("openat2", OPENAT2, folder, relative.encode("utf-8", "surrogateescape"), how, len(how))
