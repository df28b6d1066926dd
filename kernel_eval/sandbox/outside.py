"""Looks from outside at a process in a box and compares what the kernel says with the plan."""

from __future__ import annotations

import os
from dataclasses import dataclass

from kernel_eval.errors import SandboxIncomplete
from kernel_eval.sandbox.cgroup import Leaf
from kernel_eval.sandbox.hierarchy import own_groups
from kernel_eval.sandbox.kernel_files import read_file
from kernel_eval.sandbox.rootless import rootless

NAMESPACES = ("mnt", "pid", "net", "ipc", "uts", "cgroup")
CAPABILITY_SETS = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
ZYGOTE_CAPABILITIES = 1 << 6 | 1 << 7 | 1 << 8
"""CAP_SETGID, CAP_SETUID, CAP_SETPCAP."""


@dataclass(frozen=True)
class Expected:
    """What must hold for a process. `uid` None stands for the zygote: root with exactly three capabilities.

    Where the judge lacks root, zygote and cases have its own uid, no capability, another user namespace, and,
    with `closed`, memory that no process of the same user may look into.

    `filters` is the least number of seccomp filters on it; `threads` the exact number of threads, if given.
    """

    leaf: Leaf
    uid: int | None = None
    filters: int = 1
    threads: int | None = None
    closed: bool = True


def _status(pid: int) -> dict[str, str]:
    lines = read_file(f"/proc/{pid}/status").splitlines()
    return {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}


def _namespace_faults(pid: int) -> list[str]:
    names = (*NAMESPACES, "user") if rootless() else NAMESPACES
    return [name for name in names if os.readlink(f"/proc/{pid}/ns/{name}") == os.readlink(f"/proc/self/ns/{name}")]


def _in_planned_groups(pid: int, leaf: Leaf) -> bool:
    groups = own_groups(pid)
    names = ("",) if leaf.hierarchy.unified else ("", *leaf.hierarchy.controllers)
    return all(groups.get(name, "").endswith("/" + leaf.name) for name in names)


def _capability_faults(status: dict[str, str], uid: int | None) -> list[str]:
    values = {name: int(status[name], 16) for name in CAPABILITY_SETS}
    if uid is not None:
        return [f"{name} is {value:#x}" for name, value in values.items() if value]
    exact = {"CapPrm": ZYGOTE_CAPABILITIES, "CapEff": ZYGOTE_CAPABILITIES}
    return [f"{name} is {values[name]:#x}" for name, wanted in exact.items() if values[name] != wanted]


def _identity_faults(pid: int, status: dict[str, str], expected: Expected) -> list[str]:
    own = rootless()
    uid = expected.uid if expected.uid is not None else os.geteuid() if own else 0
    gid = os.getegid() if own else uid
    found = []
    if set(status["Uid"].split()) != {str(uid)} or set(status["Gid"].split()) != {str(gid)}:
        found.append(f"its uid or gid is not {uid}")
    # The kernel gives the private entries of a process with closed memory to root.
    if own and expected.closed and os.stat(f"/proc/{pid}/environ").st_uid == uid:
        found.append("its memory is open to its user")
    return found


def faults(pid: int, expected: Expected) -> list[str]:
    """Everything about the process that is not as planned; empty where all holds. Raises `OSError` if it is gone."""
    status = _status(pid)
    found = [f"namespace {name} is the judge's own" for name in _namespace_faults(pid)]
    if not _in_planned_groups(pid, expected.leaf):
        found.append(f"its control group is not {expected.leaf.name}")
    if status["Seccomp"] != "2" or int(status.get("Seccomp_filters", expected.filters)) < expected.filters:
        found.append("a seccomp filter is missing")
    if status["NoNewPrivs"] != "1":
        found.append("no_new_privs is off")
    found += _identity_faults(pid, status, expected)
    if expected.threads is not None and int(status["Threads"]) != expected.threads:
        found.append(f"it has {status['Threads']} threads")
    return found + _capability_faults(status, os.geteuid() if rootless() else expected.uid)


def verify(pid: int, expected: Expected, what: str) -> None:
    """Raise `SandboxIncomplete` unless the process is confined as planned."""
    try:
        found = faults(pid, expected)
    except OSError as error:
        raise SandboxIncomplete(f"confinement of {what}", f"The process cannot be looked at ({error}).") from error
    if found:
        raise SandboxIncomplete(f"confinement of {what}", f"Seen from outside: {'; '.join(found)}.")
