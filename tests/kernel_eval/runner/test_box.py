"""The life of a run box: loading, failing to load, dying with its judge, refusing to run without its walls."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from kernel_eval.errors import InternalError, SandboxIncomplete
from kernel_eval.runner import box as box_module
from kernel_eval.runner.arena_build import arena_library
from kernel_eval.runner.box import RunBox
from kernel_eval.runner.play import PlayStatus
from kernel_eval.runner.pool import Pool
from kernel_eval.sandbox.cgroup import sweep_orphans
from kernel_eval.sandbox.outside import Expected, faults
from kernel_eval.settings import Settings
from tests.factories.processes import gone

from .calls import call_of, fill
from .conftest import PACKAGES

pytestmark = pytest.mark.sandbox
LIMIT_S = 30.0
JUDGE = """
import sys, time
from pathlib import Path
sys.path.insert(0, {tests!r})
from kernel_eval.model import ArgumentSpec, CallSpec, ResultSpec, TensorSpec
from kernel_eval.runner.box import RunBox
from kernel_eval.runner.pool import Pool
from kernel_eval.settings import Settings
tensor = TensorSpec("float32", (10,))
call = CallSpec("exp", (ArgumentSpec("x", (tensor,)),), {{}}, (ResultSpec("y", (tensor,)),))
pool = Pool(1 << 20)
pool.lay_out(call, 1)
with RunBox(Path({package!r}), Settings(Path({cache!r}), Path({cache!r})), memory_bytes=1 << 30) as box:
    child = box.spawn(call, pool, (0,), 1)
    assert child.ready().prepared
    print(child._process.pid, box._launch.job.name, flush=True)
    time.sleep(300)
"""


def test_a_package_that_cannot_be_imported_says_why(box_of: Callable[..., RunBox], pool: Pool) -> None:
    boxes = [box_of("import_raises"), box_of("import_exits"), box_of("import_hangs", prepare_limit_s=2.0)]
    call = call_of("exp")
    pool.lay_out(call, 1)
    raises, exits, hangs = (box.play(call, pool, 0, LIMIT_S) for box in boxes)
    assert (raises.status, raises.detail) == (PlayStatus.LOAD_FAILED, "ImportError: a library is missing")
    assert (exits.status, exits.detail) == (PlayStatus.CRASHED, "the process ended by itself with exit code 0")
    assert hangs.status is PlayStatus.TIMED_OUT
    assert "while preparing" in hangs.detail
    for box in boxes:
        box.__exit__(None, None, None)


def test_zygote_and_case_are_confined_as_seen_from_outside(behaviours: RunBox, pool: Pool) -> None:
    call = call_of("exp")
    pool.lay_out(call, 1)
    child = behaviours.spawn(call, pool, (0,), 1)
    assert child.ready().prepared
    leaf, zygote = child._forked.leaf, behaviours._launch.zygote_leaf
    assert leaf is not None
    assert zygote is not None
    assert faults(child._process.pid, Expected(leaf, child._forked.uid, filters=2)) == []
    status = Path(f"/proc/{child._process.pid}/status").read_text()
    assert "NoNewPrivs:\t1" in status
    pythons = [p for p in zygote.pids() if Path(f"/proc/{p}/cmdline").read_text().startswith(sys.executable)]
    assert faults(min(pythons), Expected(zygote, threads=1)) == []
    child.close()
    assert gone(child._process.pid)


def test_a_child_that_is_given_up_is_dead(behaviours: RunBox, pool: Pool) -> None:
    call = call_of("exp")
    pool.lay_out(call, 1)
    child = behaviours.spawn(call, pool, (0,), 1)
    pid = child._process.pid
    child.close()
    child.close()
    assert gone(pid)
    with pytest.raises(InternalError):
        child.run(LIMIT_S)


def test_everything_dies_with_the_judge_and_is_swept(tmp_path: Path, run_settings: Settings) -> None:
    shutil.copytree(PACKAGES / "behaviours", tmp_path / "package")
    home = Path(__file__).resolve().parents[3]
    script = JUDGE.format(tests=str(home), package=str(tmp_path / "package"), cache=str(run_settings.cache_dir))
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, cwd=home) as judge:
        assert judge.stdout is not None
        pid, job = judge.stdout.readline().split()
        judge.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 20
    while not gone(int(pid)):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert job in sweep_orphans()


def test_a_case_in_the_wrong_group_never_gets_its_plan(
    behaviours: RunBox, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The outside check decides, whatever else was done."""
    call = call_of("exp")
    pool.lay_out(call, 1)
    assert behaviours.play(call, pool, 0, LIMIT_S).status is PlayStatus.OK
    good = box_module.Expected
    monkeypatch.setattr(box_module, "Expected", lambda leaf, uid, **rest: good(leaf, uid + 1, **rest))

    def play_until_refused() -> None:
        for _ in range(2 * box_module.BUNCH):  # the next processes may have been looked at before
            behaviours.play(call, pool, 0, LIMIT_S)

    with pytest.raises(SandboxIncomplete, match="uid or gid"):
        play_until_refused()
    monkeypatch.undo()
    assert behaviours.play(call, pool, 0, LIMIT_S).status is PlayStatus.OK


def test_without_a_sandbox_the_same_chain_runs(tmp_path: Path, run_settings: Settings, pool: Pool) -> None:
    shutil.copytree(PACKAGES / "behaviours", tmp_path, dirs_exist_ok=True)
    plain = replace(run_settings, sandboxed=False)
    with RunBox(tmp_path, plain, memory_bytes=1 << 30) as box:
        call = call_of("exp")
        pool.lay_out(call, 2)
        fill(pool, 2)
        assert box.play(call, pool, 1, LIMIT_S).status is PlayStatus.OK
        assert torch.equal(pool.outputs(1)[0][0], torch.exp(pool.inputs(1)[0]))
        assert box.play(call_of("segfault"), pool, 0, LIMIT_S).status is PlayStatus.CRASHED
        assert box.play(call_of("hang"), pool, 0, 0.5).status is PlayStatus.TIMED_OUT
        child = box.spawn(call, pool, (1, 0), 2)
        assert child.run(LIMIT_S).status is PlayStatus.OK


WHERE_IMPORTED = """
import os

HERE = os.getpid()


def imported_here(x):
    return x * 0 + (os.getpid() == HERE)
"""
"""Results of 1 where this very process imported the package, of 0 where it was forked with it."""


@pytest.mark.parametrize("trusted", [False, True])
def test_only_a_package_of_our_own_is_imported_by_the_zygote(
    trusted: bool, tmp_path: Path, run_settings: Settings, pool: Pool
) -> None:
    package = tmp_path / "cann_bench"
    package.mkdir()
    (package / "__init__.py").write_text(WHERE_IMPORTED)
    with RunBox(tmp_path, run_settings, memory_bytes=1 << 30, trusted=trusted) as box:
        call = call_of("imported_here")
        pool.lay_out(call, 1)
        fill(pool, 1)
        assert box.play(call, pool, 0, LIMIT_S).status is PlayStatus.OK
        assert bool(pool.outputs(0)[0][0].all()) is not trusted


def test_the_arena_is_compiled_once(run_settings: Settings, tmp_path: Path) -> None:
    first = arena_library(run_settings.cache_dir)
    changed = first.stat().st_mtime_ns
    assert arena_library(run_settings.cache_dir) == first
    assert first.stat().st_mtime_ns == changed
    assert os.access(first, os.X_OK)


def test_a_missing_compiler_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(InternalError, match=r"install g\+\+"):
        arena_library(tmp_path)
