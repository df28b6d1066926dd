"""A judge without root at work: `unprivileged_plays.py <folder with package/ and cache/>`.

Prints one JSON object: each play by its name as [status, detail].
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import torch

from kernel_eval.errors import InternalError
from kernel_eval.model import ArgumentSpec, CallSpec, ResultSpec, TensorSpec
from kernel_eval.runner import launch
from kernel_eval.runner.box import RunBox
from kernel_eval.runner.pool import Pool
from kernel_eval.sandbox import seccomp
from kernel_eval.settings import Settings

WAYS_BEFORE = ("right", "honest", "crash", "hang", "right again")
GENERAL = (
    "network", "unix_socket", "process", "fork", "other_processes", "kill_zygote", "ptrace_zygote", "write_package",
    "write_anywhere", "public_file", "become_root", "raise_priority", "secrets", "descriptors", "write_inputs",
    "see_golden", "leave_file", "find_file",
)  # fmt: skip
TENSOR = TensorSpec("float32", (1000,))
MEMORY_BYTES = 700 << 20


def call_of(function: str, **attributes: str) -> CallSpec:
    return CallSpec(function, (ArgumentSpec("x", (TENSOR,)),), attributes, (ResultSpec("y", (TENSOR,)),), False)


class Plays:
    """Plays and remembers how each ended."""

    def __init__(self, box: RunBox, pool: Pool) -> None:
        self.box, self.pool = box, pool
        self.found: dict[str, list[str]] = {}

    def play(self, label: str, function: str, limit_s: float = 15.0, **attributes: str) -> None:
        call = call_of(function, **attributes)
        self.pool.lay_out(call, 1)
        self.pool.inputs(0)[0].copy_(torch.arange(1000))
        play = self.box.play(call, self.pool, 0, limit_s)
        status = play.status.value
        if status == "ok" and not torch.equal(self.pool.outputs(0)[0][0], self.pool.inputs(0)[0] + 1):
            status = "wrong values"
        self.found[label] = [status, play.detail]


def walled(folder: Path, settings: Settings, pool: Pool, ways: list[str]) -> dict[str, list[str]]:
    with RunBox(folder / "package", settings, memory_bytes=MEMORY_BYTES) as box:
        plays = Plays(box, pool)
        for name in WAYS_BEFORE:
            plays.play(name, name.split()[0], 2.0 if name == "hang" else 15.0)
        for name in GENERAL:
            plays.play(name, "attack", name=name)
        pool.lay_out(call_of("right"), 1)
        sibling = box.spawn(call_of("right"), pool, (0,), 0)
        other = Pool(1 << 20)
        among_siblings = Plays(box, other)
        for name in ways:
            among_siblings.play(f"reach {name}", "reach", name=name)
        pool.inputs(0)[0].copy_(torch.arange(1000))
        plays.found["sibling"] = [sibling.run(15.0).status.value, ""]
        plays.play("right at last", "right")
        return plays.found | among_siblings.found


def noticed(folder: Path, settings: Settings, pool: Pool, way: str) -> list[Any]:
    """With a filter that lets a case at the zygote: how the case ends, and what its box says afterwards."""
    strict = launch.rootless_case_filter
    launch.rootless_case_filter = seccomp.case_filter
    try:
        with RunBox(folder / "package", settings, memory_bytes=MEMORY_BYTES) as box:
            plays = Plays(box, pool)
            plays.play(way, "reach", name=way)
            try:
                plays.play("afterwards", "right")
            except InternalError as error:
                plays.found["afterwards"] = ["refused", str(error)]
            return [plays.found[way], plays.found["afterwards"]]
    finally:
        launch.rootless_case_filter = strict


def main() -> None:
    folder, ways, changes = Path(sys.argv[1]), json.loads(sys.argv[2]), json.loads(sys.argv[3])
    settings = Settings(folder / "work", folder / "cache", threads=1)
    pool = Pool(1 << 20)
    found: dict[str, Any] = walled(folder, settings, pool, ways)
    found["noticed"] = {way: noticed(folder, settings, pool, way) for way in changes}
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
