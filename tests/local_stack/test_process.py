"""Children of the stack see what they need and no more, and never outlive it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from local_stack import process
from local_stack.process import Program, StackError
from local_stack.reach import Identity, covers_for, first_closed
from tests.factories.hosts import within
from tests.factories.processes import gone

STRANGER = Identity(uid=61234, gid=61234)
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


def shell(tmp_path: Path, script: str, **more: object) -> Program:
    argv = ["/bin/sh", "-c", script]
    return Program(name="shell", argv=argv, log=tmp_path / "shell.log", env={"PATH": "/usr/bin:/bin"}, **more)  # type: ignore[arg-type]


@as_root
def test_a_stranger_reads_what_it_needs_below_a_closed_folder_and_nothing_else(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    (closed / "needed").mkdir(parents=True)
    (closed / "needed" / "file").write_text("needed")
    (closed / "other").mkdir()
    (closed / "other" / "file").write_text("other")
    closed.chmod(0o700)
    needed = closed / "needed"
    script = f"cat {needed}/file; cat {closed}/other/file 2>/dev/null; id -u; ls {closed}"
    process.run(shell(tmp_path, script, identity=STRANGER, needs=[needed]), 10)
    assert (tmp_path / "shell.log").read_text().split() == ["needed61234", "needed"]
    assert closed.stat().st_mode & 0o777 == 0o700


@as_root
def test_a_closed_folder_that_is_needed_itself_shows_its_children(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    (closed / "a").write_text("first")
    (closed / "b").mkdir()
    (closed / "b" / "c").write_text("second")
    process.run(shell(tmp_path, f"cat {closed}/a {closed}/b/c", identity=STRANGER, needs=[closed]), 10)
    assert (tmp_path / "shell.log").read_text() == "firstsecond"


def test_the_outermost_closed_folder_is_found(tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b" / "c"
    deep.mkdir(parents=True)
    (tmp_path / "a").chmod(0o711)
    for folder in (tmp_path, *tmp_path.parents):
        if first_closed(folder, STRANGER) is not None:
            assert first_closed(deep, STRANGER) == first_closed(folder, STRANGER)
            return
    assert first_closed(deep, STRANGER) == tmp_path / "a"


def test_an_open_way_needs_no_cover() -> None:
    assert covers_for([Path("/usr/bin")], STRANGER) == {}


def test_a_failing_program_is_reported_with_its_last_lines(tmp_path: Path) -> None:
    with pytest.raises(StackError, match=r"exit 3.*what went wrong"):
        process.run(shell(tmp_path, "echo what went wrong; exit 3"), 10)


def test_a_program_that_ignores_signals_is_killed_with_its_children(tmp_path: Path) -> None:
    running = process.start(shell(tmp_path, "trap '' TERM; sleep 1000 & echo $!; wait; sleep 1000"))
    deadline = time.monotonic() + 5
    while not (tmp_path / "shell.log").read_text().strip() and time.monotonic() < deadline:
        time.sleep(0.02)
    child = int((tmp_path / "shell.log").read_text())
    process.stop(running, [(signal.SIGTERM, 0.3)])
    assert within(5, lambda: gone(child))


def test_a_child_does_not_outlive_a_killed_supervisor(tmp_path: Path) -> None:
    program = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from local_stack import process\n"
        "from local_stack.process import Program\n"
        f"child = process.start(Program('sleep', ['/bin/sleep', '1000'], Path({str(tmp_path / 'log')!r})))\n"
        "print(child.pid, flush=True)\n"
        "time.sleep(1000)\n"
    )
    supervisor = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert supervisor.stdout is not None
    child = int(supervisor.stdout.readline())
    time.sleep(0.5)
    supervisor.kill()
    supervisor.wait()
    supervisor.stdout.close()
    assert within(5, lambda: gone(child))
