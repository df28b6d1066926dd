"""What a judge without root does in place of root's rights: user namespaces, made by programs of their own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

from kernel_eval.errors import SandboxIncomplete

SETTINGS = (
    ("/proc/sys/user/max_user_namespaces", "0", "sysctl user.max_user_namespaces=15000"),
    ("/proc/sys/kernel/unprivileged_userns_clone", "0", "sysctl kernel.unprivileged_userns_clone=1"),
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "sysctl kernel.apparmor_restrict_unprivileged_userns=0, or an AppArmor profile with `userns` for this Python",
    ),
)
"""Switch, the value that forbids user namespaces to users, and how root lifts it."""
START_S = 30.0
SAID_BYTES = 500


def rootless() -> bool:
    """Whether this judge lacks root, so that its boxes lie in user namespaces and its cases have its own uid."""
    return os.geteuid() != 0


def namespace_fix() -> str:
    """What the host's root has to do before a user may make namespaces."""
    for place, forbidding, remedy in SETTINGS:
        path = Path(place)
        if path.exists() and path.read_text().strip() == forbidding:
            return f"This host forbids user namespaces to users; as root: {remedy}"
    return "Allow user namespaces to this user (a container's own filter may forbid them), or run the judge as root"


def detached_tmpfs(size_bytes: int, inodes: int) -> int:
    """Descriptor of a new tmpfs of this user's. Raises `SandboxIncomplete`."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        place = str(Path(__file__).with_name("make_tmpfs.py"))
        words = [sys.executable, "-I", "-S", "-B", place, str(theirs.fileno()), str(size_bytes), str(inodes)]
        ended = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, pass_fds=(theirs.fileno(),), timeout=START_S,
            check=False, env={"PATH": "/usr/bin:/bin"},
        )  # fmt: skip
        theirs.close()
        descriptors = socket.recv_fds(ours, 16, 1)[1]
    if not descriptors:
        said = ended.stderr.decode("utf-8", "replace").strip().splitlines()
        raise SandboxIncomplete("user namespace", f"{namespace_fix()} ({said[-1][:SAID_BYTES] if said else 'silent'}).")
    os.set_inheritable(descriptors[0], False)
    return descriptors[0]
