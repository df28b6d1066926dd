"""Tries to break out of the box it runs in and prints what is open. Standard library only.

Run inside a box as `python -I -S -B probes.py <JSON>`, where the JSON names the judge's bait: a readable
file, a TCP port, an abstract socket and an environment variable. Prints one `OPEN <probe>` per
success and `LOOKED <count>` at the end, without which the run counts as failed.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import platform
import resource
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any

Bait = dict[str, Any]
CALLS = {
    "x86_64": {
        "ptrace": 101, "process_vm_readv": 310, "kcmp": 312, "name_to_handle_at": 303, "keyctl": 250, "bpf": 321,
        "perf_event_open": 298, "userfaultfd": 323, "io_uring_setup": 425, "pidfd_getfd": 438, "mount": 165,
        "unshare": 272, "setns": 308, "chroot": 161, "clock_settime": 227, "shmget": 29, "mq_open": 240,
        "fsopen": 430, "open_tree": 428, "mount_setattr": 442, "init_module": 175, "clone3": 435,
    },
    "aarch64": {
        "ptrace": 117, "process_vm_readv": 270, "kcmp": 272, "name_to_handle_at": 264, "keyctl": 219, "bpf": 280,
        "perf_event_open": 241, "userfaultfd": 282, "io_uring_setup": 425, "pidfd_getfd": 438, "mount": 40,
        "unshare": 97, "setns": 268, "chroot": 51, "clock_settime": 112, "shmget": 194, "mq_open": 180,
        "fsopen": 430, "open_tree": 428, "mount_setattr": 442, "init_module": 105, "clone3": 435,
    },
}  # fmt: skip
"""Calls that must be refused before they look at their arguments."""
REFUSED = (errno.EPERM, errno.ENOSYS)


def call_is_reachable(number: int) -> bool:
    """Whether a system call with senseless arguments gets past the filter."""
    libc = ctypes.CDLL(None, use_errno=True)
    result = libc.syscall(number, *(ctypes.c_long(-1),) * 6)
    return bool(result >= 0 or ctypes.get_errno() not in REFUSED)


def _socket_opens(family: int, kind: int, protocol: int = 0) -> bool:
    with socket.socket(family, kind, protocol):
        return True


def tcp_to_the_judge(bait: Bait) -> bool:
    """Connect to a port on which the judge listens."""
    with socket.create_connection(("127.0.0.1", bait["port"]), timeout=2):
        return True


def netlink_socket(_: Bait) -> bool:
    """Open a netlink socket."""
    return _socket_opens(socket.AF_NETLINK, socket.SOCK_RAW)


def vsock_socket(_: Bait) -> bool:
    """Open a socket to the hypervisor, which no namespace covers."""
    return _socket_opens(socket.AF_VSOCK, socket.SOCK_STREAM)


def udp_socket(_: Bait) -> bool:
    """Open an internet socket at all."""
    return _socket_opens(socket.AF_INET, socket.SOCK_DGRAM)


def abstract_socket_of_the_judge(bait: Bait) -> bool:
    """Connect to an abstract UNIX socket of the judge."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as channel:
        channel.connect("\0" + bait["abstract"])
        return True


def readable_file_of_the_host(bait: Bait) -> bool:
    """Read a file that everybody on the host may read."""
    with open(bait["file"], "rb"):
        return True


def processes_of_the_host(_: Bait) -> bool:
    """See processes besides this one and the box's first."""
    return sum(entry.isdigit() for entry in os.listdir("/proc")) > 2


def judges_environment(bait: Bait) -> bool:
    """Find a variable of the judge's environment."""
    return bait["variable"] in os.environ


def foreign_descriptors(_: Bait) -> bool:
    """Find open descriptors besides the standard ones."""
    listing = 1
    return len([name for name in os.listdir("/proc/self/fd") if int(name) > 2]) > listing


def write_to_the_system(_: Bait) -> bool:
    """Create a file anywhere but in the sized tmpfs."""
    for folder in ("/", "/usr", "/etc", "/dev", "/hap", os.path.dirname(sys.executable), "/proc/sys/kernel"):
        try:
            os.close(os.open(os.path.join(folder, "probe"), os.O_CREAT | os.O_WRONLY, 0o600))
        except OSError:
            continue
        return True
    return False


def device_node(_: Bait) -> bool:
    """Create a device."""
    os.mknod("/tmp/device", 0o600 | 0o020000, os.makedev(1, 1))
    return True


def become_root(_: Bait) -> bool:
    """Take uid 0 back."""
    os.setuid(0)
    return True


def memory_of_the_first(_: Bait) -> bool:
    """Look into the memory of the box's first process."""
    with open("/proc/1/mem", "rb"):
        return True


def environment_of_the_first(_: Bait) -> bool:
    """Read the environment of the box's first process."""
    with open("/proc/1/environ", "rb") as file:
        file.read(1)
        return True


def raise_limits(_: Bait) -> bool:
    """Raise a hard limit."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard + 1, hard + 1))
    return True


def control_groups(_: Bait) -> bool:
    """See the control groups' file system."""
    return os.path.exists("/sys/fs/cgroup")


def endless_file(bait: Bait) -> bool:
    """Write more into /tmp than its size."""
    chunk = bytes(1 << 20)
    try:
        with open("/tmp/endless", "wb", buffering=0) as file:
            for _ in range(bait["tmp_mib"] + 8):
                if file.write(chunk) < len(chunk):
                    return False
    finally:
        os.unlink("/tmp/endless")
    return True


def endless_processes(bait: Bait) -> bool:
    """Fork more processes than allowed."""
    started: list[int] = []
    try:
        while len(started) < bait["processes"] + 8:
            pid = os.fork()
            if pid == 0:
                signal.pause()
            started.append(pid)
    finally:
        for pid in started:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    return True


PROBES: tuple[Callable[[Bait], bool], ...] = (
    tcp_to_the_judge, netlink_socket, vsock_socket, udp_socket, abstract_socket_of_the_judge,
    readable_file_of_the_host, processes_of_the_host, judges_environment, foreign_descriptors, write_to_the_system,
    device_node, become_root, memory_of_the_first, environment_of_the_first, raise_limits, control_groups,
    endless_file, endless_processes,
)  # fmt: skip


def succeeds(probe: Callable[[Bait], bool], bait: Bait) -> bool:
    """Whether a probe gets through; any error means that it was stopped."""
    try:
        return probe(bait)
    except (OSError, ValueError):
        return False


def main() -> None:
    """Run every probe and report through standard output."""
    bait = json.loads(sys.argv[1])
    calls = CALLS.get(platform.machine(), {})
    opened = [probe.__name__ for probe in PROBES if succeeds(probe, bait)]
    opened += [name for name, number in calls.items() if call_is_reachable(number)]
    report = [*(f"OPEN {name}" for name in opened), f"LOOKED {len(PROBES) + len(calls)}"]
    sys.stdout.write("\n".join(report) + "\n")


if __name__ == "__main__":
    main()
