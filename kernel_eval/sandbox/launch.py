"""First step of a box, run as its own program outside it: `python -I -S launch.py <descriptor>`.

Reads a JSON plan from the descriptor, enters the planned cgroups, without root also a user namespace,
gives itself private mounts, attaches the sized tmpfs, sets limits and becomes bwrap. Anything that fails ends
it with a message on standard error before foreign code exists.
"""

from __future__ import annotations

import importlib.util
import json
import os
import resource
import signal
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

STAGE = "/sys/fs"
"""Hidden in the launcher's own mount namespace to hold the tmpfs until bwrap binds them; bwrap reads nothing there."""


def _kernel_calls() -> ModuleType:
    """The neighbouring module, loaded by path: `-I` gives this program no package."""
    place = Path(__file__).with_name("kernel_calls.py")
    spec = importlib.util.spec_from_file_location("kernel_calls", place)
    if spec is None or spec.loader is None:
        raise ImportError(place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _enter_cgroups(folders: list[str]) -> None:
    for folder in folders:
        Path(folder, "cgroup.procs").write_text("0")


def _attach(calls: ModuleType, descriptors: list[int]) -> None:
    calls.private_mounts()
    calls.mount_tmpfs(STAGE, "size=64k,nr_inodes=64,mode=0755")
    for descriptor in descriptors:
        folder = f"{STAGE}/{descriptor}"
        os.mkdir(folder)
        calls.attach_mount(descriptor, folder)
        os.close(descriptor)


def _limit(file_bytes: int, open_files: int) -> None:
    for kind, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, file_bytes),
        (resource.RLIMIT_NOFILE, open_files),
    ):
        resource.setrlimit(kind, (value, value))


def launch(plan: dict[str, Any]) -> None:
    """Become bwrap as planned; never returns."""
    calls = _kernel_calls()
    calls.die_with_parent(signal.SIGKILL)
    if os.getppid() != plan["parent"]:
        raise ProcessLookupError("the judge is gone")
    _enter_cgroups(plan["cgroups"])
    if plan["rootless"]:
        calls.enter_user_namespace()
        calls.die_with_parent(signal.SIGKILL)  # a change of rights may have cleared it
    _attach(calls, plan["mounts"])
    _limit(plan["file_bytes"], plan["open_files"])
    for kept in plan["kept"]:
        os.set_inheritable(kept, True)
    os.execve(plan["argv"][0], plan["argv"], {"PATH": "/usr/bin:/bin"})


def main() -> None:
    """Read the plan and launch it."""
    with os.fdopen(int(sys.argv[1]), "r", encoding="utf-8") as file:
        plan = json.load(file)
    launch(plan)


if __name__ == "__main__":
    main()
