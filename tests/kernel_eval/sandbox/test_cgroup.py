"""Control groups: which are used, what they hold, and that nothing stays behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kernel_eval.errors import SandboxIncomplete
from kernel_eval.sandbox import hierarchy
from kernel_eval.sandbox.cgroup import Job, Leaf, sweep_orphans
from kernel_eval.sandbox.hierarchy import Hierarchy, choose_hierarchy, find_hierarchy, own_groups
from kernel_eval.sandbox.outside import Expected, faults, verify
from kernel_eval.sandbox.policy import MIB, BoxLimits

LIMITS = BoxLimits(64 * MIB, 8, MIB, cores=1)


def mount(kind: str, point: Path, options: str, root: str = "/") -> str:
    return f"30 23 0:26 {root} {point} rw,nosuid - {kind} none rw,{options}\n"


def fake_group(folder: Path, controllers: str, delegated: bool = True) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (("cgroup.controllers", controllers), ("cgroup.subtree_control", ""), ("cgroup.procs", "")):
        (folder / name).write_text(text)
    if delegated:
        (folder / "cgroup.type").write_text("domain")
    return folder


class TestChoice:
    """v2 with controllers first, then v1 with v2 for killing, else a refusal that names what is missing."""

    def test_v2_with_controllers_is_used_alone(self, tmp_path: Path) -> None:
        own = fake_group(tmp_path / "unit", "cpu memory pids io")
        found = choose_hierarchy(mount("cgroup2", tmp_path, "nsdelegate"), {"": "/unit"})
        assert found == Hierarchy(True, own, {"cpu": own, "memory": own, "pids": own})
        assert found.roots == (own,)
        assert set((own / "cgroup.subtree_control").read_text().split()) == {"+cpu", "+memory", "+pids"}

    def test_a_judge_in_its_own_leaf_makes_jobs_beside_it(self, tmp_path: Path) -> None:
        own = fake_group(tmp_path / "unit" / "judge", "memory pids").parent
        fake_group(own, "memory pids")
        assert choose_hierarchy(mount("cgroup2", tmp_path, ""), {"": "/unit/judge"}).kill == own

    def test_other_processes_stay_where_they_are_if_the_root_can_take_the_jobs(self, tmp_path: Path) -> None:
        fake_group(tmp_path, "memory pids", delegated=False)
        (tmp_path / "cgroup.subtree_control").write_text("memory pids")
        own = fake_group(tmp_path / "session", "memory pids")
        (own / "cgroup.procs").write_text("1\n2\n")
        assert choose_hierarchy(mount("cgroup2", tmp_path, ""), {"": "/session"}).kill == tmp_path
        assert not (own / "judge").exists()

    def test_v1_controllers_go_with_v2_for_killing(self, tmp_path: Path) -> None:
        second = fake_group(tmp_path / "unified", "", delegated=False)
        table = mount("cgroup2", second, "x") + mount("cgroup", tmp_path / "m", "memory")
        table += mount("cgroup", tmp_path / "p", "pids") + mount("cgroup", tmp_path / "c", "cpu,cpuacct")
        found = choose_hierarchy(table, {"": "/", "memory": "/mine", "pids": "/", "cpu": "/a"})
        assert not found.unified
        assert found.roots == (second, tmp_path / "m" / "mine", tmp_path / "p", tmp_path / "c" / "a")

    def test_without_v2_nothing_can_be_killed_for_sure(self, tmp_path: Path) -> None:
        with pytest.raises(SandboxIncomplete, match="mount -t cgroup2"):
            choose_hierarchy(mount("cgroup", tmp_path, "memory"), {"memory": "/"})

    def test_a_missing_controller_is_named(self, tmp_path: Path) -> None:
        second = fake_group(tmp_path / "unified", "", delegated=False)
        table = mount("cgroup2", second, "x") + mount("cgroup", tmp_path / "m", "memory")
        with pytest.raises(SandboxIncomplete, match="pids"):
            choose_hierarchy(table, {"": "/", "memory": "/"})

    def test_without_root_a_foreign_group_is_refused_and_the_root_of_all_is_never_tried(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fake_group(tmp_path, "memory pids", delegated=False)
        (tmp_path / "cgroup.subtree_control").write_text("memory pids")
        own = fake_group(tmp_path / "scope", "memory pids")
        (own / "cgroup.procs").write_text("1\n2\n")
        monkeypatch.setattr(hierarchy, "rootless", lambda: True)
        assert choose_hierarchy(mount("cgroup2", tmp_path, ""), {"": "/scope"}).kill == own
        monkeypatch.setattr(hierarchy, "_may_use", lambda group: False)
        with pytest.raises(SandboxIncomplete, match="systemd-run --user --scope -p Delegate=yes"):
            choose_hierarchy(mount("cgroup2", tmp_path, ""), {"": "/scope"})

    def test_without_root_the_cores_controller_may_be_foreign(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        second = fake_group(tmp_path / "unified", "", delegated=False)
        table = mount("cgroup2", second, "x") + mount("cgroup", tmp_path / "m", "memory")
        table += mount("cgroup", tmp_path / "p", "pids") + mount("cgroup", tmp_path / "c", "cpu,cpuacct")
        monkeypatch.setattr(hierarchy, "rootless", lambda: True)
        monkeypatch.setattr(hierarchy, "_may_use", lambda group: group != tmp_path / "c")
        found = choose_hierarchy(table, {"": "/", "memory": "/", "pids": "/", "cpu": "/"})
        assert found.roots == (second, tmp_path / "m", tmp_path / "p")
        monkeypatch.setattr(hierarchy, "_may_use", lambda group: group != tmp_path / "m")
        with pytest.raises(SandboxIncomplete, match="is not the judge's"):
            choose_hierarchy(table, {"": "/", "memory": "/", "pids": "/", "cpu": "/"})

    def test_limits_of_v2_are_written_in_its_words(self, tmp_path: Path) -> None:
        leaf = Leaf(Hierarchy(True, tmp_path, dict.fromkeys(("memory", "pids", "cpu"), tmp_path)), "job")
        for name in ("memory.max", "memory.swap.max", "memory.oom.group", "pids.max", "cpu.max"):
            (tmp_path / "job").mkdir(exist_ok=True)
            (tmp_path / "job" / name).touch()
        leaf.limit(LIMITS)
        written = {file.name: file.read_text() for file in (tmp_path / "job").iterdir()}
        assert written == {
            "memory.max": str(64 * MIB), "memory.swap.max": "0", "memory.oom.group": "1", "pids.max": "8",
            "cpu.max": "100000 100000",
        }  # fmt: skip


@pytest.mark.sandbox
class TestJobs:
    """Real groups on this host."""

    def test_a_leaf_holds_kills_and_goes(self) -> None:
        job = Job()
        leaf = job.leaf("case", LIMITS)
        with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"]) as child:
            leaf.move(child.pid)
            assert leaf.pids() == [child.pid]
            groups = own_groups(child.pid)
            names = [""] if leaf.hierarchy.unified else ["", "memory", "pids"]
            assert all(groups[name].endswith(leaf.name) for name in names)
            leaf.kill()
            assert child.wait(10) == -signal.SIGKILL
        assert not leaf.out_of_memory()
        job.close()
        assert not any(folder.exists() for folder in leaf.folders)

    def test_closing_a_job_kills_what_lives_in_it(self) -> None:
        job = Job()
        with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"]) as child:
            job.leaf("case", LIMITS).move(child.pid)
            job.close()
            assert child.wait(10) == -signal.SIGKILL

    def test_an_empty_leaf_is_used_again_and_one_that_ran_out_of_memory_is_not(self) -> None:
        job = Job()
        first = job.borrow(LIMITS)
        job.give_back(first)
        assert job.borrow(LIMITS) is first
        script = "import sys; sys.stdin.read(); x = bytearray(1 << 28)\nfor i in range(0, 1 << 28, 4096): x[i] = 1"
        with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE) as child:
            first.move(child.pid)
            child.communicate(b"go")
            assert child.returncode == -signal.SIGKILL
        assert first.out_of_memory()
        job.give_back(first)
        assert job.borrow(LIMITS) is not first
        job.close()

    def test_jobs_of_a_dead_judge_are_swept_and_those_of_a_living_one_are_not(self) -> None:
        script = (
            "import sys, time\nfrom kernel_eval.sandbox.cgroup import Job\n"
            "from kernel_eval.sandbox.policy import BoxLimits\nimport subprocess\njob = Job()\n"
            "leaf = job.leaf('case', BoxLimits(1 << 26, 8, 1))\n"
            "child = subprocess.Popen(['sleep', '300'])\nleaf.move(child.pid)\n"
            "print(job.name, child.pid, flush=True)\ntime.sleep(300)"
        )
        own = Job()
        with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as judge:
            assert judge.stdout is not None
            name, orphan = judge.stdout.readline().split()
            assert name not in sweep_orphans()
            judge.kill()
        swept = sweep_orphans()
        assert name in swept
        assert own.name not in swept
        deadline = time.monotonic() + 10
        while Path(f"/proc/{orphan}/cmdline").exists() and Path(f"/proc/{orphan}/cmdline").read_bytes():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        own.close()
        assert not any((root / name).exists() for root in find_hierarchy().roots)

    def test_a_process_outside_every_wall_is_seen_as_such(self) -> None:
        job = Job()
        leaf = job.leaf("case", LIMITS)
        found = faults(os.getpid(), Expected(leaf, uid=1234, filters=1))
        text = "; ".join(found)
        for word in ("namespace mnt", "namespace net", "control group", "seccomp", "no_new_privs", "uid", "CapEff"):
            assert word in text
        with pytest.raises(SandboxIncomplete, match="namespace pid"):
            verify(os.getpid(), Expected(leaf), "a process")
        with pytest.raises(SandboxIncomplete, match="cannot be looked at"):
            verify(1 << 22, Expected(leaf), "nobody")
        job.close()
