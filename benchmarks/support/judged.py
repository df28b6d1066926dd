"""Submissions that need no build, and `kernel-eval` as a process of its own, timed from outside."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from kernel_eval.build.compile import build_candidate
from kernel_eval.golden.baseline import write_baseline_package
from kernel_eval.model import Candidate, Operator
from kernel_eval.settings import Settings

PROJECT = Path(__file__).resolve().parents[2]
EXAMPLE = PROJECT / "examples" / "cpu_cpp"
WHEEL = "cann_bench-1.0-py3-none-any.whl"
MOST_S = 150.0
"""After so long a process is killed."""


@dataclass(frozen=True)
class Finished:
    """A process that has ended. `lines` are those of standard error, each with the seconds at which it came.

    `peak_mib` is the largest resident memory the kernel counted for it (`ru_maxrss`): private pages, libraries,
    files it maps, and the shared memory of cases as far as it touched it. A descendant that it has waited for
    counts only where it was larger by itself; cases' processes, which the judge doesn't wait for, do not count. The
    kernel hands the benchmark's own size at the start on to it, so the figure is never below that.
    """

    seconds: float
    peak_mib: float
    code: int
    output: str
    lines: tuple[tuple[float, str], ...]

    def first(self, text: str) -> float:
        """When the first line with `text` came. Raises `RuntimeError` with the last lines where none did."""
        for at, line in self.lines:
            if text in line:
                return at
        raise RuntimeError(f"no line said {text!r}: " + " | ".join(line for _, line in self.lines[-5:]))


def ready_source(folder: Path, operators: Sequence[Operator], *, example: bool) -> Path:
    """A submission below `folder` whose wheel is built: the C++ example, or PyTorch's own operators."""
    with tempfile.TemporaryDirectory(dir=folder) as work:
        if example:
            settings = Settings(Path(work), Path(work))
            build = build_candidate(Candidate(EXAMPLE), settings, Path(work, "build"))
            if build.package_dir is None:
                raise RuntimeError(f"the example does not build: {build.message}")
            package = build.package_dir
        else:
            package = Path(work, "package")
            write_baseline_package(operators, package)
        return _packed(package, folder / "source")


def _packed(package_dir: Path, source: Path) -> Path:
    """The package as a wheel in `source/dist`."""
    (source / "dist").mkdir(parents=True)
    with zipfile.ZipFile(source / "dist" / WHEEL, "w") as wheel:
        for path in sorted(package_dir.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                wheel.write(path, path.relative_to(package_dir).as_posix())
    return source


def kernel_eval(words: Sequence[str], **environment: str) -> Finished:
    """Run `kernel-eval` with these words and watch it to its end."""
    return run([sys.executable, "-m", "kernel_eval", *words], environment)


def run(words: Sequence[str], environment: Mapping[str, str] | None = None) -> Finished:
    """Run a command from the project's folder, with its byte code kept, and watch it to its end."""
    around = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryFile("w+") as output:
        began = time.monotonic()
        process = subprocess.Popen(
            words,
            cwd=PROJECT,
            env={**around, "PYTHONUNBUFFERED": "1", **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.PIPE,
            text=True,
        )
        watchdog = threading.Timer(MOST_S, process.kill)
        watchdog.start()
        assert process.stderr is not None
        lines = _timed_lines(process.stderr, began)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - began
        watchdog.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        process.stderr.close()
        output.seek(0)
        return Finished(seconds, usage.ru_maxrss / 1024, process.returncode, output.read(), lines)


def _timed_lines(stream: IO[str], began: float) -> tuple[tuple[float, str], ...]:
    return tuple((time.monotonic() - began, line.rstrip("\n")) for line in stream)
