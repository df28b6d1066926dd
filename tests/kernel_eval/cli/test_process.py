"""The end of the process `kernel-eval`: at once where torch is loaded, with its whole output and its exit code."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import numpy
import pytest

PROGRAM = """
import atexit, sys
from kernel_eval.cli import run
atexit.register(print, "torn down", file=sys.stderr)
{before}
sys.argv[1:] = {words!r}
run()
"""


def ended(before: str, *words: str) -> subprocess.CompletedProcess[str]:
    program = PROGRAM.format(before=before, words=list(words))
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(("output", "code"), [(1.0, 0), (2.0, 1)])
def test_with_torch_nothing_is_torn_down_and_the_code_is_the_verdict(tmp_path: Path, output: float, code: int) -> None:
    numpy.save(tmp_path / "golden.npy", numpy.full(8, 1.0, dtype=numpy.float32))
    numpy.save(tmp_path / "output.npy", numpy.full(8, output, dtype=numpy.float32))
    done = ended("", "check", "--golden", str(tmp_path / "golden.npy"), "--output", str(tmp_path / "output.npy"))
    assert done.returncode == code
    assert done.stdout.endswith("}\n")
    assert "torn down" not in done.stderr


def test_without_torch_python_ends_as_ever() -> None:
    done = ended("", "list")
    assert (done.returncode, done.stderr) == (0, "torn down\n")


def test_a_usage_fault_keeps_its_code_and_its_message() -> None:
    done = ended("import torch", "list", "--suite", "nobody-knows-it")
    assert done.returncode == 2
    assert done.stderr.startswith("kernel-eval: ")


def test_a_reader_that_takes_its_time_gets_everything() -> None:
    program = PROGRAM.format(before="import torch; print('x' * 1_000_000)", words=["list"])
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        time.sleep(0.5)
        assert process.stdout.read(1_000_000) == "x" * 1_000_000
        assert len(process.stdout.read().splitlines()) > 2
    assert process.returncode == 0


def test_a_reader_that_has_left_is_no_fault_to_report() -> None:
    program = PROGRAM.format(before="import torch", words=["list"])
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert "Traceback" not in process.stderr.read()
    assert process.returncode == 1
