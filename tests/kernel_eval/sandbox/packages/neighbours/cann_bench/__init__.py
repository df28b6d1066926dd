"""What a case tries on the processes that have its user. `reach(x, name)` returns x + 1 where it is stopped."""

import ctypes
import fcntl
import os
import resource
import signal
import tempfile
import threading
import time

from . import general

ZYGOTE = 1
PRIVATE = ("mem", "maps", "smaps", "environ", "fd", "fdinfo", "cwd", "root", "exe", "map_files", "auxv", "syscall")
attack = general.attack


class Reached(Exception):
    pass


def right(x):
    return x + 1


def crash(x):
    os.kill(os.getpid(), signal.SIGSEGV)
    return x


def hang(x):
    while True:
        time.sleep(1)


def honest(x):
    """What threads, limits and signals of one's own need goes on working."""
    found = []
    thread = threading.Thread(target=found.append, args=(1,))
    thread.start()
    thread.join()
    os.kill(os.getpid(), 0)
    signal.raise_signal(signal.SIGCHLD)
    os.sched_setaffinity(0, os.sched_getaffinity(0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0))
    open(f"/proc/{os.getpid()}/maps").close()
    return x + len(found)


def reach(x, name):
    """Play one of `WAYS` against the zygote and every other process that is to be seen."""
    others = [int(entry) for entry in os.listdir("/proc") if entry.isdigit() and int(entry) != os.getpid()]
    assert ZYGOTE in others
    for pid in others:
        try:
            WAYS[name](pid)
        except (OSError, ValueError):
            continue
        raise Reached(f"{name} of {pid}")
    return x + 1


def _checked(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")


def _libc():
    return ctypes.CDLL(None, use_errno=True)


def _look(pid, entry):
    place = f"/proc/{pid}/{entry}"
    if entry in ("cwd", "root", "exe"):
        os.readlink(place)
    elif entry in ("fd", "fdinfo", "map_files"):
        os.listdir(place)
    else:
        with open(place, "rb") as file:
            _ = entry == "mem" or file.read(1)  # nothing lies at a memory's beginning


def _own_signal(pid):
    with socket_pair() as ours:
        fcntl.fcntl(ours, 8, pid)


def socket_pair():
    import socket

    return socket.socketpair()[0]


def _signal_by_descriptor(pid):
    signal.pidfd_send_signal(os.open(f"/proc/{pid}", os.O_RDONLY), signal.SIGSTOP)


def _made(path):
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))


def _nameless(_):
    os.close(os.open("/tmp", os.O_TMPFILE | os.O_RDWR, 0o600))


WAYS = {
    **{entry: (lambda pid, entry=entry: _look(pid, entry)) for entry in PRIVATE},
    "write_mem": lambda pid: os.close(os.open(f"/proc/{pid}/mem", os.O_RDWR)),
    "prlimit": lambda pid: resource.prlimit(pid, resource.RLIMIT_NOFILE, (9, 9)),
    "affinity": lambda pid: os.sched_setaffinity(pid, {min(os.sched_getaffinity(0))}),
    "priority": lambda pid: os.setpriority(os.PRIO_PROCESS, pid, 19),
    "priority_of_all": lambda pid: os.setpriority(os.PRIO_USER, 0, 19),
    "priority_of_group": lambda pid: os.setpriority(os.PRIO_PGRP, 0, 19),
    "scheduler": lambda pid: os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0)),
    "kill": lambda pid: os.kill(pid, signal.SIGSTOP),
    "kill_all": lambda pid: os.kill(-1, signal.SIGSTOP),
    "kill_group": lambda pid: os.kill(0, signal.SIGCHLD),
    "tgkill": lambda pid: _checked(_libc().tgkill(pid, pid, 19)),
    "queue": lambda pid: _checked(_libc().sigqueue(pid, 19, 0)),
    "pidfd": os.pidfd_open,
    "kill_by_descriptor": _signal_by_descriptor,
    "owned_signals": _own_signal,
    "open_own_memory": lambda pid: _checked(_libc().prctl(4, 1, 0, 0, 0)),
    "exec": lambda pid: os.execv("/bin/true", ["true"]),
    "file": lambda pid: _made("/tmp/left"),
    "shared_file": lambda pid: _made("/dev/shm/left"),
    "nameless_file": _nameless,
    "temporary_file": lambda pid: tempfile.TemporaryFile().close(),
    "folder": lambda pid: os.mkdir("/tmp/left"),
    "link": lambda pid: os.symlink("/", "/tmp/left"),
}
