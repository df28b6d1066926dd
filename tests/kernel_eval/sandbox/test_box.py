"""Commands in a real build box."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from kernel_eval.errors import SandboxIncomplete
from kernel_eval.sandbox import box, boxed, bwrap, cgroup, seccomp
from kernel_eval.sandbox.box import CommandOutcome, run_command
from kernel_eval.sandbox.host import build_policy
from kernel_eval.sandbox.policy import MIB, Bind, BoxLimits, BuildPolicy, Tmpfs
from kernel_eval.sandbox.workspace import UnsafeFile, Workspace

pytestmark = pytest.mark.sandbox
LIMITS = BoxLimits(256 * MIB, 40, 64 * MIB)


def policy(limits: BoxLimits = LIMITS) -> BuildPolicy:
    whole = build_policy(2, limits=limits)
    return BuildPolicy(whole.binds, whole.limits, whole.environment, (Tmpfs(Path("/tmp"), 16 * MIB),))


def shell(
    script: str, timeout_s: float = 30.0, cap: int = 1 << 16, workspace: Workspace | None = None
) -> CommandOutcome:
    return run_command(policy(), ["bash", "-c", script], timeout_s, cap, workspace=workspace)


def python(script: str, timeout_s: float = 30.0) -> CommandOutcome:
    return run_command(policy(), [sys.executable, "-I", "-S", "-c", script], timeout_s, 1 << 16)


def test_output_and_exit_code_come_back() -> None:
    outcome = shell("echo out; echo err >&2; exit 7")
    assert outcome.exit_code == 7
    assert sorted(outcome.log.split()) == [b"err", b"out"]
    assert not outcome.timed_out
    assert not outcome.oom


def test_a_command_that_does_not_exist_is_no_fault_of_the_box() -> None:
    outcome = run_command(policy(), ["/no/such/program"], 30.0, 1 << 16)
    assert outcome.exit_code not in (0, None)
    assert b"No such file" in outcome.log


def test_a_command_is_killed_at_its_time_limit() -> None:
    started = time.monotonic()
    outcome = shell("sleep 100 & sleep 100", timeout_s=1.0)
    assert (outcome.exit_code, outcome.timed_out) == (None, True)
    assert time.monotonic() - started < 20


def test_endless_output_is_capped_at_both_ends() -> None:
    outcome = shell("echo first; head -c 50000000 /dev/zero | tr '\\0' x; echo; echo last", cap=1000)
    assert outcome.exit_code == 0
    assert outcome.log_truncated
    assert outcome.log.startswith(b"first")
    assert outcome.log.endswith(b"last\n")
    assert len(outcome.log) < 1200


def test_running_out_of_memory_is_told() -> None:
    outcome = python("x = bytearray(1 << 29)\nfor i in range(0, len(x), 4096): x[i] = 1")
    assert outcome.oom
    assert outcome.exit_code != 0


def test_filling_the_tmpfs_ends_at_its_size() -> None:
    outcome = shell("head -c 100000000 /dev/zero > /tmp/x; stat -c %s /tmp/x")
    assert int(outcome.log.split()[-1]) <= 16 * MIB


def test_a_fork_bomb_ends_at_the_limit_of_processes() -> None:
    outcome = python(
        "import os\nn = 0\ntry:\n  while os.fork(): n += 1\n  os._exit(0)\nexcept OSError: print('forks', n)"
    )
    forks = [int(line.split()[1]) for line in outcome.log.splitlines() if line.startswith(b"forks")]
    assert forks
    assert max(forks) < LIMITS.processes


def test_daemons_die_with_the_command() -> None:
    mark = f"hapboard-test-{os.getpid()}"
    outcome = shell(f"setsid bash -c 'exec -a {mark} sleep 300' < /dev/null > /dev/null 2>&1 & sleep 0.3")
    assert outcome.exit_code == 0
    commands = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (entry / "cmdline").exists():
            try:
                commands.append((entry / "cmdline").read_bytes())
            except OSError:
                continue
    assert not any(mark.encode() in command.split(b"\0") for command in commands if b"bash" not in command[:10])


def test_the_environment_is_an_allow_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HAPBOARD_SECRET_KEY", "do not tell")
    outcome = shell("env")
    assert b"do not tell" not in outcome.log
    names = {line.partition(b"=")[0].decode() for line in outcome.log.splitlines()}
    assert names - {"PWD", "SHLVL", "_", "OLDPWD"} == set(policy().environment)


def test_the_command_has_no_powers() -> None:
    lines = dict(line.split(b":\t", 1) for line in shell("cat /proc/self/status").log.splitlines() if b":\t" in line)
    assert {int(lines[name], 16) for name in (b"CapInh", b"CapPrm", b"CapEff", b"CapBnd", b"CapAmb")} == {0}
    assert lines[b"Seccomp"] == b"2"
    assert lines[b"NoNewPrivs"] == b"1"
    assert int(lines[b"Uid"].split()[0]) >= boxed.FIRST_UID


def test_two_boxes_have_different_users() -> None:
    assert shell("id -u").log != shell("id -u").log


def test_the_wheel_s_bwrap_does_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boxed, "find_bwrap", bwrap.wheel_bwrap)
    assert shell("echo hello").log == b"hello\n"


class TestWorkspace:
    """What goes into a box and what comes out."""

    def test_sources_go_in_and_results_come_out(self) -> None:
        with Workspace(8 * MIB) as space:
            (space.path / "deep").mkdir()
            (space.path / "deep" / "source").write_text("text")
            outcome = shell("mkdir dist && tr a-z A-Z < deep/source > dist/result && rm deep/source", workspace=space)
            assert (outcome.exit_code, outcome.log) == (0, b"")
            assert space.list_files("dist") == ["result"]
            assert space.read_file("dist/result", 10) == b"TEXT"
            assert space.list_files("nowhere") == []

    def test_it_is_no_larger_than_told(self) -> None:
        with Workspace(MIB, inodes=32) as space:
            outcome = shell("head -c 5000000 /dev/zero > big; for i in $(seq 100); do touch $i; done", workspace=space)
            assert b"No space left" in outcome.log
            assert len(space.list_files(".")) < 40

    @pytest.mark.parametrize(
        ("script", "reason"),
        [
            ("ln -s /etc/passwd file", "symbolic links"),
            ("mkfifo file", "not a regular file"),
            ("mkdir file", "not a regular file"),
            ("echo > other; ln other file", "2 names"),
            ("truncate -s 1G file", "allowed are"),
            ("ln -s . folder; echo > folder/file2; ln -s folder/file2 file", "symbolic links"),
            ("true", "No such file"),
        ],
    )
    def test_unsafe_files_stay_in(self, script: str, reason: str) -> None:
        with Workspace(8 * MIB) as space:
            wide = BoxLimits(256 * MIB, 40, 2 << 30)
            assert run_command(policy(wide), ["bash", "-c", script], 30.0, 1000, workspace=space).exit_code == 0
            with pytest.raises(UnsafeFile, match=reason):
                space.read_file("file", 1000)

    @pytest.mark.parametrize("path", ["../etc/passwd", "/etc/passwd", "sub/../../x"])
    def test_paths_never_lead_out(self, path: str) -> None:
        with Workspace(MIB) as space, pytest.raises(UnsafeFile):
            space.read_file(path, 1000)

    def test_wiping_removes_what_one_user_left_however_deep(self) -> None:
        with Workspace(8 * MIB) as space:
            (space.path / "ours").write_text("stays")
            script = "import os\nfor i in range(1500):\n  os.mkdir('d'); open('f', 'w').close(); os.chdir('d')"
            command = [sys.executable, "-I", "-S", "-c", script + "\nos.symlink('/', 'root')"]
            assert run_command(policy(), command, 30.0, 1000, workspace=space).exit_code == 0
            os.chown(space.path / "ours", 0, 0)
            (owner,) = {os.stat(space.path / "f").st_uid}
            space.wipe(owner)
            assert space.list_files(".") == ["ours"]


class TestFailsClosed:
    """With a part missing, the command must never run."""

    SCRIPT = "touch /build/canary"

    def refused(self, part: str) -> None:
        with Workspace(MIB) as space:
            with pytest.raises(SandboxIncomplete) as caught:
                shell(self.SCRIPT, workspace=space)
            assert part in str(caught.value)
            assert space.list_files(".") == []

    def test_the_canary_sings_where_all_is_well(self) -> None:
        with Workspace(MIB) as space:
            assert shell(self.SCRIPT, workspace=space).exit_code == 0
            assert space.list_files(".") == ["canary"]

    def test_without_bubblewrap(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(boxed, "find_bwrap", lambda: Path("/no/such/bwrap"))
        self.refused("No such file")

    def test_with_a_broken_filter(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(seccomp, "box_filter", lambda: b"\xff" * 16)
        self.refused("box")

    def test_with_an_empty_filter(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(seccomp, "box_filter", lambda: b"")
        self.refused("box")

    def test_with_a_vanished_bind(self, monkeypatch: pytest.MonkeyPatch) -> None:
        good = boxed.box_arguments
        gone = Bind(Path("/no/such/folder"), Path("/hap/gone"))
        monkeypatch.setattr(boxed, "box_arguments", lambda program, binds, *rest: good(program, (*binds, gone), *rest))
        self.refused("/no/such/folder")

    @pytest.mark.parametrize("namespace", bwrap.NAMESPACES)
    def test_without_one_namespace(self, monkeypatch: pytest.MonkeyPatch, namespace: str) -> None:
        left = tuple(name for name in bwrap.NAMESPACES if name != namespace)
        monkeypatch.setattr(bwrap, "NAMESPACES", left)
        self.refused("namespace" if namespace != "--unshare-uts" else "")

    def test_with_capabilities_left(self, monkeypatch: pytest.MonkeyPatch) -> None:
        expected = box.Expected
        monkeypatch.setattr(box, "Expected", lambda leaf, uid, **rest: expected(leaf, None))
        self.refused("uid or gid is not 0")

    def test_outside_its_control_group(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(cgroup.Leaf, "folders", property(lambda leaf: ()))
        with pytest.raises((SandboxIncomplete, OSError)):
            shell(self.SCRIPT)
