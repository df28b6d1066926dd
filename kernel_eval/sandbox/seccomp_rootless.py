"""The filter of a case that shares its user with the box's first process and with other cases.

Without root nothing but this filter, closed memory (`confine.close_memory`) and the namespaces stand between
them. It adds to what every case's filter forbids: signals, limits, priorities and cores of other processes;
becoming another program, whose memory would be open again; making files, since every case would own them; and
sending descriptors, of which a user may have only so many on their way.
"""

from __future__ import annotations

import errno
import functools

from kernel_eval.sandbox import seccomp
from kernel_eval.sandbox.confine import OWN_PID, PR_SET_DUMPABLE

OWN_ONLY = ("kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo")
"""Signals: allowed where the first argument is this very process."""
CALLER_ONLY = ("prlimit64", "sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr")
"""Allowed where the first argument is 0, which is the calling thread."""
NEVER = (
    "execve", "execveat", "sendmsg", "sendmmsg",
    "tkill", "pidfd_open", "pidfd_send_signal", "process_mrelease", "process_madvise",
    "creat", "mkdir", "mkdirat", "symlink", "symlinkat", "link", "linkat", "rename", "renameat", "renameat2",
)  # fmt: skip
O_CREAT, O_TMPFILE = 0o100, 0o20000000
F_SETOWN, F_SETSIG, F_SETOWN_EX = 8, 10, 15
FIOSETOWN, SIOCSPGRP = 0x8901, 0x8902
WORD = 0xFFFFFFFF
PR_SET_MM = 35


@functools.cache
def rootless_case_filter() -> bytes:
    """BPF that such a case's process stacks on top of `box_filter`; `OWN_PID` in it is for its pid."""
    lib, rules = seccomp.case_rules()
    eperm = lib.ERRNO(errno.EPERM)
    for name in NEVER:
        seccomp.deny(lib, rules, name, eperm)
    for name in OWN_ONLY:
        seccomp.deny(lib, rules, name, eperm, lib.Arg(0, lib.NE, OWN_PID))
    for name in CALLER_ONLY:
        seccomp.deny(lib, rules, name, eperm, lib.Arg(0, lib.NE, 0))
    for name, itself in (("setpriority", 0), ("ioprio_set", 1)):
        seccomp.deny(lib, rules, name, eperm, lib.Arg(0, lib.NE, itself))
        seccomp.deny(lib, rules, name, eperm, lib.Arg(1, lib.NE, 0))
    for option in (PR_SET_DUMPABLE, PR_SET_MM):
        seccomp.deny(lib, rules, "prctl", eperm, lib.Arg(0, lib.MASKED_EQ, WORD, option))
    for command in (F_SETOWN, F_SETSIG, F_SETOWN_EX):
        seccomp.deny(lib, rules, "fcntl", eperm, lib.Arg(1, lib.MASKED_EQ, WORD, command))
    for request in (FIOSETOWN, SIOCSPGRP):
        seccomp.deny(lib, rules, "ioctl", eperm, lib.Arg(1, lib.MASKED_EQ, WORD, request))
    for name, place in (("open", 1), ("openat", 2)):
        for bit in (O_CREAT, O_TMPFILE):
            seccomp.deny(lib, rules, name, eperm, lib.Arg(place, lib.MASKED_EQ, bit, bit))
    seccomp.deny(lib, rules, "openat2", lib.ERRNO(errno.ENOSYS))
    return seccomp.exported(rules)
