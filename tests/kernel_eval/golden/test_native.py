"""The pinned same-precision run and the baseline package."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from kernel_eval.errors import GoldenFault, InternalError
from kernel_eval.golden.baseline import write_baseline_package
from kernel_eval.golden.native import PINNED, NativeRunner
from kernel_eval.suite import default_bench_data, load_suite
from tests.factories.tasks import case_of, operator_of


def test_it_runs_pinned_answers_faults_and_starts_again_when_it_died(tmp_path: Path) -> None:
    source = """
import os, torch


def golden(x):
    assert torch.get_num_threads() == 1
    assert torch.backends.cpu.get_cpu_capability() == "DEFAULT"
    if x.numel() == 3:
        raise ValueError("three")
    return x * x
"""
    operator = operator_of(tmp_path / "sample", source)
    x = torch.tensor([1.5, 300.0], dtype=torch.float16)
    with NativeRunner() as runner:
        found = runner.run(operator, case_of(operator, [(2,)], ["float16"]), [x])
        assert found[0][0].tolist() == [2.25, float("inf")]
        with pytest.raises(GoldenFault, match="three"):
            runner.run(operator, case_of(operator, [(3,)]), [torch.ones(3)])
        process = runner._process
        assert process is not None
        process.send_signal(signal.SIGKILL)
        process.wait()
        with pytest.raises(InternalError, match="same-precision process ended"):
            runner.run(operator, case_of(operator, [(2,)]), [torch.ones(2)])
        assert runner.run(operator, case_of(operator, [(2,)]), [torch.ones(2)])[0][0].tolist() == [1.0, 1.0]
    assert runner._process is None
    assert PINNED["ATEN_CPU_CAPABILITY"] == "default"


PROBE = """
import sys
sys.path.insert(0, sys.argv[1])
import torch, cann_bench
x = torch.tensor([0.5, -1.0])
assert torch.equal(cann_bench.sigmoid(x), torch.sigmoid(x))
assert torch.equal(cann_bench.gelu(x, approximate="tanh"), torch.nn.functional.gelu(x, approximate="tanh"))
assert torch.allclose(cann_bench.exp(x, base=2.0, scale=0.5, shift=1.0), 2 ** (0.5 * x + 1))
assert cann_bench.foreach_norm([x], scalar=2.0)[0].shape == ()
assert not any(name.startswith("kernel_eval") for name in sys.modules), "the package needs the judge"
print(",".join(sorted(name for name in dir(cann_bench) if not name.startswith("_"))))
"""


def test_the_baseline_package_runs_by_itself(tmp_path: Path) -> None:
    suite = load_suite(default_bench_data(), "cann-bench-small")
    write_baseline_package(suite.operators, tmp_path)
    program = [sys.executable, "-I", "-c", PROBE, str(tmp_path)]
    done = subprocess.run(program, check=True, capture_output=True, text=True, cwd="/", env=dict(os.environ))
    names = done.stdout.strip().split(",")
    assert names == sorted([*(operator.function for operator in suite.operators), "empty", "control"])


def test_an_operator_without_a_baseline_is_our_fault(tmp_path: Path) -> None:
    with pytest.raises(GoldenFault, match="no function baseline"):
        write_baseline_package([operator_of(tmp_path / "sample")], tmp_path / "out")
