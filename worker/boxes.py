"""Ends everything that this process plays, at once."""

from __future__ import annotations

import os
from pathlib import Path

from kernel_eval.errors import SandboxIncomplete
from kernel_eval.sandbox.cgroup import PREFIX
from kernel_eval.sandbox.hierarchy import find_hierarchy


def kill_own_boxes() -> list[str]:
    """Kills every process in this process's control groups; the names of the groups.

    What the judge makes of their sudden end does not matter: the run is no longer ours.
    """
    try:
        place = find_hierarchy().kill
    except SandboxIncomplete:
        return []
    killed = []
    for job in place.glob(f"{PREFIX}-*-{os.getpid()}-*"):
        _kill(job)
        killed.append(job.name)
    return killed


def _kill(job: Path) -> None:
    try:
        (job / "cgroup.kill").write_text("1")
    except FileNotFoundError:
        return
