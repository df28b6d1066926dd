"""A judge without root, run here as a user of no account with control groups of its own."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kernel_eval.runner.arena_build import arena_library
from kernel_eval.sandbox.hierarchy import find_hierarchy
from kernel_eval.sandbox.rootless import SETTINGS
from local_stack.reach import Identity, covers_for

HERE = Path(__file__).parent
PROJECT = HERE.parents[2]
UID = 61999
WAYS = (
    "mem", "maps", "smaps", "environ", "fd", "fdinfo", "cwd", "root", "exe", "map_files", "auxv", "syscall",
    "write_mem", "prlimit", "affinity", "priority", "priority_of_all", "priority_of_group", "scheduler", "kill",
    "kill_all", "kill_group", "tgkill", "queue", "pidfd", "kill_by_descriptor", "owned_signals", "open_own_memory",
    "exec", "file", "shared_file", "nameless_file", "temporary_file", "folder", "link",
)  # fmt: skip
CHANGES = ("prlimit", "affinity", "priority")


def _obstacle() -> str:
    """Why no judge without root can be tried here; empty where one can."""
    if os.geteuid():
        return "becoming a user with control groups of its own takes root"
    for place, forbidding, remedy in SETTINGS:
        if Path(place).exists() and Path(place).read_text().strip() == forbidding:
            return f"this host forbids user namespaces to users ({remedy})"
    return ""


pytestmark = [pytest.mark.sandbox, pytest.mark.skipif(bool(_obstacle()), reason=_obstacle())]


@dataclass(frozen=True)
class User:
    """A user of no account; `folder` is its own."""

    folder: Path
    groups: tuple[Path, ...]

    def run(self, *argv: str, delegated: bool = True, timeout_s: float = 200.0) -> subprocess.CompletedProcess[str]:
        identity = Identity(UID, UID)
        order = {
            "groups": [str(group) for group in self.groups] if delegated else [],
            "covers": covers_for([PROJECT, Path(sys.prefix), Path(sys.base_prefix)], identity),
            "uid": UID,
            "argv": [sys.executable, "-B", *argv],
            "env": {
                "PATH": "/usr/bin:/bin",
                "PYTHONPATH": str(PROJECT),
                "TMPDIR": str(self.folder),
                "LC_ALL": "C.UTF-8",
            },
        }
        program = [sys.executable, "-I", "-B", str(HERE / "become_user.py"), json.dumps(order)]
        return subprocess.run(program, capture_output=True, text=True, timeout=timeout_s, check=False)

    def python(self, script: str, *, delegated: bool = True) -> Any:
        ended = self.run("-c", script, delegated=delegated)
        assert ended.returncode == 0, ended.stderr
        return json.loads(ended.stdout.splitlines()[-1])


def _delegate(group: Path) -> None:
    group.mkdir()
    for place in (group, *group.glob("cgroup.*")):
        os.chown(place, UID, UID)


def _remove(groups: Sequence[Path]) -> None:
    """Remove what is left of the user's groups, once its processes are gone."""
    for group in groups:
        for place, _, _ in os.walk(group, topdown=False):
            deadline = time.monotonic() + 10
            while os.path.isdir(place) and time.monotonic() < deadline:
                with contextlib.suppress(OSError):
                    os.rmdir(place)


@pytest.fixture(scope="module")
def user() -> Iterator[User]:
    name = f"user-{secrets.token_hex(4)}"
    groups = tuple(root / name for root in find_hierarchy().roots)
    folder = Path(tempfile.mkdtemp(prefix="hapboard-user-"))
    try:
        for group in groups:
            _delegate(group)
        os.chown(folder, UID, UID)
        yield User(folder, groups)
    finally:
        _remove(groups)
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def plays(user: User) -> dict[str, Any]:
    """How every play ended, and what the user's groups held afterwards."""
    package = user.folder / "package" / "cann_bench"
    shutil.copytree(HERE / "packages" / "neighbours" / "cann_bench", package)
    shutil.copy(HERE.parent / "runner" / "packages" / "attacks" / "cann_bench" / "__init__.py", package / "general.py")
    arena_library(user.folder / "cache")
    for place, _, files in os.walk(user.folder):
        for path in (place, *(os.path.join(place, file) for file in files)):
            os.chown(path, UID, UID)
    ended = user.run(str(HERE / "unprivileged_plays.py"), str(user.folder), json.dumps(WAYS), json.dumps(CHANGES))
    assert ended.returncode == 0, ended.stderr
    found: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return found


def test_right_crashing_and_hanging_cases_are_told_apart(plays: dict[str, Any]) -> None:
    assert plays["right"] == ["ok", ""]
    assert plays["crash"] == ["crashed", "killed by SIGSEGV"]
    assert plays["hang"][0] == "timed_out"
    assert plays["right again"] == ["ok", ""]
    assert plays["right at last"] == ["ok", ""]


def test_honest_threads_limits_and_signals_go_on_working(plays: dict[str, Any]) -> None:
    assert plays["honest"] == ["ok", ""]


@pytest.mark.parametrize("name", ["network", "unix_socket", "process", "fork", "write_anywhere", "see_golden"])
def test_there_is_no_network_no_process_and_no_file_outside(plays: dict[str, Any], name: str) -> None:
    assert plays[name] == ["ok", ""]


def test_every_attack_of_the_root_mode_is_stopped(plays: dict[str, Any]) -> None:
    names = ["other_processes", "kill_zygote", "ptrace_zygote", "write_package", "public_file", "become_root"]
    names += ["raise_priority", "secrets", "descriptors", "write_inputs", "leave_file", "find_file"]
    assert {name: plays[name] for name in names} == {name: ["ok", ""] for name in names}


@pytest.mark.parametrize("way", WAYS)
def test_zygote_and_siblings_are_out_of_a_case_s_reach(plays: dict[str, Any], way: str) -> None:
    assert plays[f"reach {way}"] == ["ok", ""]
    assert plays["sibling"][0] == "ok"


@pytest.mark.parametrize("way", CHANGES)
def test_a_changed_zygote_is_noticed_and_its_box_used_no_more(plays: dict[str, Any], way: str) -> None:
    """The same ways without the filter: they succeed, so it is the filter that stops them, and the watch sees them."""
    case, afterwards = plays["noticed"][way]
    assert case[0] == "tampered"
    assert "it changed the process that starts the cases" in case[1]
    assert afterwards[0] == "refused"


CHECK = """
import json
from kernel_eval.sandbox.selftest import check_host
print(json.dumps([[part.part, part.fix] for part in check_host()]))
"""
OPENED = """
import json
from kernel_eval.sandbox import bwrap, seccomp, selftest
if {case!r} == "filter":
    lib = seccomp._library()
    rules = lib.SyscallFilter(lib.ALLOW)
    rules.add_rule(lib.ERRNO(1), "reboot")
    sieve = seccomp.exported(rules)
    seccomp.box_filter = lambda: sieve
else:
    bwrap.NAMESPACES = tuple(name for name in bwrap.NAMESPACES if name != {case!r})
print(json.dumps([[part.part, part.fix] for part in selftest._attacked()]))
"""
BUILD = """
import json
from pathlib import Path
from kernel_eval.sandbox.box import run_command
from kernel_eval.sandbox.host import build_policy
from kernel_eval.sandbox.policy import MIB, BoxLimits
from kernel_eval.sandbox.workspace import Workspace
policy = build_policy(1, limits=BoxLimits(256 * MIB, 40, 64 * MIB))
found = {}
with Workspace(8 * MIB) as space:
    (space.path / "source").write_text("text")
    script = "tr a-z A-Z < source > made; cat /proc/self/status; id -u; exit 7"
    outcome = run_command(policy, ["bash", "-c", script], 60.0, 1 << 16, workspace=space)
    found["made"] = [outcome.exit_code, space.read_file("made", 10).decode(), outcome.log.decode()]
for name, script in {
    "signal": "kill -SEGV $$",
    "daemon": "setsid sleep 300 & exit 3",
    "absent": "exec /no/such/program",
    "bomb": "x=$(head -c 400000000 /dev/zero | tr '\\\\0' x); exit 1",
}.items():
    outcome = run_command(policy, ["bash", "-c", script], 60.0, 1 << 16)
    found[name] = [outcome.exit_code, outcome.oom]
outcome = run_command(policy, ["sleep", "100"], 1.0, 1 << 16)
found["slow"] = [outcome.exit_code, outcome.timed_out]
print(json.dumps(found))
"""


def test_the_self_test_finds_nothing_missing(user: User) -> None:
    assert user.python(CHECK) == []


@pytest.mark.parametrize(("case", "part"), [("filter", "wall against"), ("--unshare-net", "confinement")])
def test_the_self_test_refuses_an_opening(user: User, case: str, part: str) -> None:
    found = user.python(OPENED.format(case=case))
    assert found
    assert all(part in entry[0] for entry in found)


def test_without_delegated_groups_the_way_to_them_is_named(user: User) -> None:
    found = user.python(CHECK, delegated=False)
    assert [part for part, _ in found] == ["cgroup"]
    assert "systemd-run --user --scope -p Delegate=yes make up" in found[0][1]
    assert f"chown {UID}" in found[0][1]


def test_a_build_ends_as_its_command_does(user: User) -> None:
    found = user.python(BUILD)
    code, made, log = found["made"]
    assert (code, made) == (7, "TEXT")
    lines = dict(line.split(":\t", 1) for line in log.splitlines() if ":\t" in line)
    assert {int(lines[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {0}
    assert (lines["Seccomp"], lines["NoNewPrivs"], log.splitlines()[-1]) == ("2", "1", str(UID))
    assert found["signal"] == [128 + 11, False]
    assert found["daemon"] == [3, False]
    assert found["absent"][0] == 127
    assert found["bomb"][0] != 0
    assert found["bomb"][1]
    assert found["slow"] == [None, True]


def test_nothing_stays_behind(user: User, plays: dict[str, Any]) -> None:
    assert plays
    left = [entry.name for group in user.groups for entry in group.iterdir() if entry.is_dir()]
    assert [name for name in left if name.startswith("hapboard-")] == []
