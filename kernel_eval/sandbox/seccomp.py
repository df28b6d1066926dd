"""System calls that foreign code may not make, compiled to BPF by libseccomp.

Two deny lists. `box_filter` holds for everything in a box; `case_filter` is stacked
on top of it by a case's process, which may start threads but no processes, open no
sockets, and cannot make a file that another case's user could read.
"""

from __future__ import annotations

import errno
import functools
import importlib
import os
import tempfile
from types import ModuleType
from typing import Any

from kernel_eval.errors import SandboxIncomplete

FORBIDDEN = (
    "ptrace process_vm_readv process_vm_writev process_madvise pidfd_getfd kcmp "
    "mount umount2 pivot_root move_mount open_tree open_tree_attr fsopen fsconfig fsmount fspick mount_setattr "
    "setns unshare chroot name_to_handle_at open_by_handle_at "
    "add_key request_key keyctl bpf perf_event_open userfaultfd "
    "io_uring_setup io_uring_enter io_uring_register "
    "shmget shmat shmctl shmdt semget semop semtimedop semctl msgget msgsnd msgrcv msgctl "
    "mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr "
    "init_module finit_module delete_module kexec_load kexec_file_load reboot swapon swapoff "
    "clock_settime clock_adjtime settimeofday adjtimex stime sethostname setdomainname acct quotactl quotactl_fd "
    "syslog iopl ioperm lookup_dcookie fanotify_init vhangup nfsservctl personality "
    "migrate_pages move_pages"
)
"""Refused with EPERM in every box, separated by spaces."""

CASE_FORBIDDEN = ("fork", "vfork", "socket", "connect", "bind", "listen", "accept", "accept4", "mknod", "mknodat")
"""Refused with EPERM in a case's process, besides `FORBIDDEN`."""

CASE_IGNORED = (
    "chmod", "fchmod", "fchmodat", "fchmodat2", "umask",
    "setxattr", "lsetxattr", "fsetxattr", "setxattrat",
)  # fmt: skip
"""Do nothing and report success in a case's process: honest code carries on, but files stay private to the case."""

CLONE_NAMESPACES = 0x7E020080
"""CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET and NEWTIME in one mask."""
CLONE_THREAD = 0x00010000
AF_UNIX = 1
TIOCSTI = 0x5412
TIOCLINUX = 0x541C
NUMBERS = {"fchmodat2": 452, "setxattrat": 463, "open_tree_attr": 467}
"""Numbers of calls younger than some libseccomp; they are the same on every architecture."""
UNKNOWN = -1
KNOWN_TO_ALL = (
    "ptrace", "mount", "unshare", "setns", "bpf", "keyctl", "io_uring_setup", "process_vm_readv",
    "kill", "tgkill", "prlimit64", "sched_setaffinity", "prctl", "fcntl", "ioctl", "openat",
)  # fmt: skip
"""Calls that even an old libseccomp must know; without them the filter would be a sieve."""


def _library() -> ModuleType:
    try:
        import pyseccomp
    except (ImportError, RuntimeError, OSError) as error:
        raise SandboxIncomplete("seccomp", f"Install libseccomp2 and the package pyseccomp ({error}).") from error
    return importlib.import_module(pyseccomp.__name__)


def deny(library: ModuleType, rules: object, name: str, action: int, *arguments: object) -> None:
    """Add one rule, for certain arguments or for all.

    A name unknown to this libseccomp is an error where every version must know it.
    """
    try:
        number = library.resolve_syscall(library.Arch.NATIVE, name)
        known = NUMBERS.get(name, number) if number == UNKNOWN else number
        rules.add_rule(action, known, *arguments)  # type: ignore[attr-defined]
    except (OSError, ValueError) as error:
        if name in KNOWN_TO_ALL:
            raise SandboxIncomplete(
                "seccomp", f"libseccomp does not know {name}; install version 2.5 or newer."
            ) from error


def exported(rules: object) -> bytes:
    """The rules as a BPF program. Raises `SandboxIncomplete` where it would be empty."""
    with tempfile.TemporaryFile() as file:
        rules.export_bpf(file)  # type: ignore[attr-defined]
        size = file.seek(0, os.SEEK_END)
        program = os.pread(file.fileno(), size, 0)
    if not program or len(program) % 8:
        raise SandboxIncomplete("seccomp", "libseccomp compiled an empty filter; reinstall libseccomp2.")
    return program


@functools.cache
def box_filter() -> bytes:
    """BPF for everything in a box. Foreign architectures are killed, which is libseccomp's default."""
    lib = _library()
    rules = lib.SyscallFilter(lib.ALLOW)
    eperm = lib.ERRNO(errno.EPERM)
    for name in FORBIDDEN.split():
        deny(lib, rules, name, eperm)
    rules.add_rule(lib.ERRNO(errno.ENOSYS), "clone3")
    for bit in (1 << n for n in range(32) if CLONE_NAMESPACES >> n & 1):
        rules.add_rule(eperm, "clone", lib.Arg(0, lib.MASKED_EQ, bit, bit))
    rules.add_rule(eperm, "socket", lib.Arg(0, lib.NE, AF_UNIX))
    rules.add_rule(eperm, "socketpair", lib.Arg(0, lib.NE, AF_UNIX))
    for request in (TIOCSTI, TIOCLINUX):
        rules.add_rule(eperm, "ioctl", lib.Arg(1, lib.MASKED_EQ, 0xFFFFFFFF, request))
    return exported(rules)


def case_rules() -> tuple[ModuleType, Any]:
    """libseccomp and the rules for a case's process, to which more may be added before `exported`."""
    lib = _library()
    rules = lib.SyscallFilter(lib.ALLOW)
    for name in CASE_FORBIDDEN:
        deny(lib, rules, name, lib.ERRNO(errno.EPERM))
    for name in CASE_IGNORED:
        deny(lib, rules, name, lib.ERRNO(0))
    rules.add_rule(lib.ERRNO(errno.EPERM), "clone", lib.Arg(0, lib.MASKED_EQ, CLONE_THREAD, 0))
    return lib, rules


@functools.cache
def case_filter() -> bytes:
    """BPF that a case's process stacks on top of `box_filter`."""
    return exported(case_rules()[1])
