"""Policies and command lines, without running anything."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kernel_eval.errors import SandboxIncomplete
from kernel_eval.sandbox import seccomp
from kernel_eval.sandbox.bwrap import box_arguments, find_bwrap, wheel_bwrap
from kernel_eval.sandbox.capped_log import CappedLog
from kernel_eval.sandbox.host import system_binds
from kernel_eval.sandbox.policy import Bind, build_environment, run_environment

HOME = Path(__file__).resolve().parents[3]


def arguments(binds: tuple[Bind, ...] = (), mounts: dict[str, Path] | None = None) -> list[str]:
    return box_arguments(Path("/bwrap"), binds, mounts or {}, {"A": "b"}, Path("/tmp"), 9, ["program", "word"])


def test_every_namespace_is_asked_for_and_none_is_optional() -> None:
    words = arguments()
    for name in ("pid", "net", "ipc", "uts", "cgroup"):
        assert f"--unshare-{name}" in words
    assert "--unshare-user" not in words
    assert [word for word in words if word.endswith("-try")] == []
    assert {"--die-with-parent", "--new-session", "--clearenv"} <= set(words)
    assert words[-3:] == ["--", "program", "word"]


def test_only_three_capabilities_stay() -> None:
    words = arguments()
    kept = {words[at + 1] for at, word in enumerate(words) if word == "--cap-add"}
    assert kept == {"CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP"}
    assert words[words.index("--cap-drop") + 1] == "ALL"


def test_outer_places_are_mounted_before_what_lies_in_them(tmp_path: Path) -> None:
    inner = Bind(tmp_path, Path("/tmp/deep/venv"))
    words = arguments((inner,), {"/stage/7": Path("/tmp")})
    assert words.index("/stage/7") < words.index("/tmp/deep/venv")


def test_a_bind_without_a_source_is_refused() -> None:
    with pytest.raises(SandboxIncomplete, match="/no/such"):
        arguments((Bind(Path("/no/such"), Path("/x")),))


def test_nothing_of_a_home_or_a_service_is_shown() -> None:
    shown = {str(bind.source) for bind in system_binds()}
    assert not shown & {"/", "/home", "/root", "/etc", "/var", "/run", "/tmp", "/proc", "/sys", "/dev", str(HOME)}
    assert any(Path(sys.prefix).is_relative_to(place) for place in shown)


def test_timing_and_looking_differ_in_how_threads_wait() -> None:
    assert "OMP_WAIT_POLICY" not in run_environment(2)
    assert run_environment(2, passive_threads=True)["OMP_WAIT_POLICY"] == "passive"
    assert run_environment(3)["OPENBLAS_NUM_THREADS"] == "1"
    assert build_environment(4)["MAX_JOBS"] == "4"


def test_both_bubblewraps_run() -> None:
    for path in (find_bwrap(), wheel_bwrap()):
        done = subprocess.run([path, "--version"], capture_output=True, text=True, check=True)
        assert done.stdout.startswith("bubblewrap")


def test_filters_are_programs_that_deny_more_than_a_few_calls() -> None:
    for program in (seccomp.box_filter(), seccomp.case_filter()):
        assert len(program) % 8 == 0
        assert len(program) // 8 > 20


def test_the_policy_is_pure() -> None:
    script = (
        "import sys, kernel_eval.sandbox.policy; print([n for n in ('torch', 'numpy', 'ctypes') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=HOME)
    assert done.stdout.strip() == "[]"


def test_a_capped_log_keeps_both_ends() -> None:
    log = CappedLog(10)
    for part in (b"abc", b"defgh", b"ijklmnop", b"qrstuvwxyz"):
        log.feed(part)
    assert log.truncated
    assert log.content() == b"abcde\n[... 16 bytes left out ...]\nvwxyz"
    short = CappedLog(10)
    short.feed(b"0123456789")
    assert (short.truncated, short.content()) == (False, b"0123456789")


def test_what_is_bound_below_a_writable_folder_can_be_reached_by_every_user(tmp_path: Path) -> None:
    target = Path("/tmp/clone/project/.venv")
    words = arguments((Bind(tmp_path, target),), {"/stage/0": Path("/tmp")})
    mounted, bound = words.index("/stage/0"), words.index(str(tmp_path))
    between = words[mounted:bound]
    for folder in ("/tmp/clone", "/tmp/clone/project"):
        place = between.index(folder)
        assert between[place - 3 : place] == ["--perms", "0755", "--dir"]
