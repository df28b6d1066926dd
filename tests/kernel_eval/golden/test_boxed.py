"""Foreign goldens run in a box: what they may not do fails, and what they say is checked."""

from __future__ import annotations

import sys
import textwrap
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import torch

from kernel_eval.errors import GoldenFault
from kernel_eval.golden.boxed import GoldenBox
from kernel_eval.golden.claimed import PLACEHOLDERS, claimed_results
from kernel_eval.model import (
    Case,
    Claim,
    Container,
    Foreign,
    InputSpec,
    Operator,
    OutputSpec,
    ResultSpec,
    TensorClaim,
    TensorSpec,
)
from kernel_eval.settings import Settings
from tests.factories.tasks import FLOATS, case_of, operator_of

SECRET = "known to the judge alone"
HARMLESS = {
    "halves": "return x / 3",
    "repeats": "import random\nreturn torch.rand_like(x) + random.random()",
    "gradient": "return torch.nn.Parameter(x.t().clone()).t()",
    "chatters": "for _ in range(20000):\n    print('x' * 1000)\nreturn x",
    "kills": "import os\nos.kill(os.getppid(), 9)\nos.kill(1, 9)\nreturn x",
}
ATTACKS = {
    "reads": ("return x + len(open(SECRET_FILE).read())", "FileNotFoundError"),
    "reads_suite": (
        "import glob, os\nreturn x + 1 / len(glob.glob(os.path.dirname(SECRET_FILE) + '/*'))",
        "ZeroDivisionError",
    ),
    "connects": ("import socket\nsocket.create_connection(('127.0.0.1', 22), 1)\nreturn x", "PermissionError"),
    "forks": ("import os\nos.fork()\nreturn x", "PermissionError"),
    "spawns": ("import subprocess\nsubprocess.run(['true'], check=True)\nreturn x", "PermissionError"),
    "fills": (
        "with open('/tmp/big', 'wb') as f:\n    f.writelines(bytes(1 << 20) for _ in range(2048))\nreturn x",
        "raised",
    ),
    "changes": ("open(__file__, 'w').write('')\nreturn x", "Read-only file system"),
    "allocates": ("return torch.ones(1 << 33, dtype=torch.float64)[:1] + x", "out_of_memory"),
    "expands": ("return x[:1].expand(1 << 40)", "out_of_memory"),
    "exits": ("import os\nos._exit(0)", "exit code 0"),
    "nothing": ("return None", "must be a tensor, is NoneType"),
    "number": ("return 1.0", "must be a tensor, is float"),
    "lies": ("return x if x.dtype == torch.float16 else x[:1]", "must return float64[4], returned float64[1]"),
    "dtype": ("return x.int()", "is int32, declared is float16 or float32"),
    "raises": ("raise ValueError('no such thing')", "ValueError: no such thing"),
    "broken": ("return x\n\nimport nothing_of_this_name", "load_failed"),
    "talks": (
        "import os, stat\n"
        "for fd in range(3, 40):\n"
        "    try:\n"
        "        if stat.S_ISSOCK(os.fstat(fd).st_mode):\n"
        "            os.write(fd, b'x' * 536)\n"
        "    except OSError:\n"
        "        pass\n"
        "return x",
        "tampered",
    ),
    "hangs": ("while True:\n    pass", "timed_out"),
}


def source_of(name: str, secret: Path) -> str:
    """A golden whose function has the name of what it does."""
    body, _, behind = (HARMLESS.get(name) or ATTACKS[name][0]).partition("\n\n")
    return (
        f"import torch\nSECRET_FILE = {str(secret)!r}\n\ndef {name}(x):\n{textwrap.indent(body, '    ')}\n\n{behind}\n"
    )


@dataclass(frozen=True)
class Bench:
    box: GoldenBox
    folder: Path

    def operator(self, name: str) -> Operator:
        return foreign_operator(self.folder / name, name)

    def results(self, name: str) -> tuple[ResultSpec, ...]:
        operator = self.operator(name)
        return self.box.results(operator, case_for(operator), [torch.ones(4, dtype=torch.float16)], 7, seen=False)


def foreign_operator(folder: Path, name: str) -> Operator:
    outputs = (OutputSpec("y", "golden", dtypes=("float16", "float32")),)
    made = operator_of(folder, inputs=(InputSpec("x", FLOATS),), outputs=outputs)
    return replace(made, function=name, foreign=Foreign(name))


def case_for(operator: Operator) -> Case:
    return case_of(operator, [(4,)], ["float16"])


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    folder = tmp_path_factory.mktemp("foreign")
    secret = folder / "secret"
    secret.write_text(SECRET)
    operators = []
    for name in (*HARMLESS, *ATTACKS):
        operators.append(foreign_operator(folder / name, name))
        (folder / name / "golden.py").unlink()
        (folder / name / "foreign.py").write_text(source_of(name, secret))
    # Not even an --unsandboxed run takes the box away from a foreign golden.
    settings = Settings(folder / "work", folder / "cache", threads=2, op_timeout_s=2.0, sandboxed=False)
    settings.work_dir.mkdir()
    with GoldenBox(operators, settings, 0) as box:
        yield Bench(box, folder)


@pytest.mark.sandbox
def test_a_golden_is_computed_in_fp64_and_rounded_once_to_the_dtype_of_its_native_run(bench: Bench) -> None:
    operator = bench.operator("halves")
    case, inputs = case_for(operator), [torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=torch.float16)]
    results = bench.box.results(operator, case, inputs, 0, seen=False)
    assert results == (ResultSpec("y", (TensorSpec("float16", (4,)),)),)
    golden = bench.box.reference(operator, case, inputs, 0, results, seen=False)
    assert golden.tensors[0][0].tolist() == (inputs[0].double() / 3).to(torch.float16).tolist()
    native = bench.box.native(operator, case, inputs, 0, results, seen=False)
    assert native[0][0].tolist() == (inputs[0] / 3).tolist()


@pytest.mark.sandbox
def test_global_generators_begin_at_the_given_seed(bench: Bench) -> None:
    operator = bench.operator("repeats")
    results, inputs = bench.results("repeats"), [torch.ones(4, dtype=torch.float16)]
    drawn = [
        bench.box.reference(operator, case_for(operator), inputs, seed, results, seen=False).tensors[0][0].tolist()
        for seed in (1, 1, 2)
    ]
    assert drawn[0] == drawn[1] != drawn[2]


@pytest.mark.sandbox
@pytest.mark.parametrize(("name", "reason"), [(name, reason) for name, (_, reason) in ATTACKS.items()])
def test_what_a_golden_may_not_do_is_a_fault_of_the_suite_and_leaves_the_box_usable(
    bench: Bench, name: str, reason: str
) -> None:
    operator = bench.operator(name)

    def whole() -> None:
        inputs = [torch.ones(4, dtype=torch.float16)]
        bench.box.reference(operator, case_for(operator), inputs, 7, bench.results(name), seen=False)

    with pytest.raises(GoldenFault) as caught:
        whole()
    said = str(caught.value)
    assert said.startswith(f"{name}/public/1: its golden")
    assert reason in said
    assert SECRET not in said
    assert said.isprintable()
    assert bench.results("halves")


@pytest.mark.sandbox
def test_a_golden_that_hangs_costs_its_time_once(bench: Bench) -> None:
    with pytest.raises(GoldenFault, match="timed_out"):
        bench.results("hangs")
    started = time.monotonic()
    with pytest.raises(GoldenFault, match="timed_out"):
        bench.results("hangs")
    assert time.monotonic() - started < 1


@pytest.mark.sandbox
def test_signals_to_others_and_floods_of_output_change_nothing(bench: Bench) -> None:
    for name in ("kills", "chatters", "gradient"):
        try:
            bench.results(name)
        except GoldenFault as fault:
            said = str(fault)
            assert name == "kills", said
        assert bench.results("halves")


def test_nothing_of_a_golden_is_imported_here() -> None:
    assert not [name for name in sys.modules if name.startswith(("golden_of_", "cann_bench"))]


def claim(dtype: str = "float32", shape: tuple[int, ...] = (2,), **changes: bool) -> Claim:
    tensor = replace(TensorClaim(True, dtype, shape, True, True), **changes)
    return Claim(Container.TENSOR, 1, (tensor,), "Tensor")


@pytest.mark.parametrize(
    ("claims", "named"),
    [
        ((), "returned 0 outputs"),
        ((claim(), claim()), "returned 2 outputs"),
        ((Claim(Container.OTHER, 0, (), "NoneType"),), "must be a tensor, is NoneType"),
        ((Claim(Container.LIST, 1, claim().tensors, "list"),), "must be a tensor"),
        ((claim(exact_type=False),), "no plain tensor"),
        ((claim(on_device=False),), "no plain tensor"),
        ((claim(""),), "no plain tensor"),
        ((claim("int8"),), "is int8, declared is float16 or float32"),
        ((claim(shape=(-1,)),), "has the shape"),
        ((claim(shape=(1 << 41,)),), "has the shape"),
        ((claim(shape=(1 << 39, 1 << 39, 1 << 39)),), "bytes of outputs, at most"),
        ((claim(shape=(1 << 18, 1024)),), "claims 1073741824 bytes of outputs, at most 1000"),
        ((claim(shape=(0,) * 9),), "has the shape"),
    ],
)
def test_a_claim_that_contradicts_the_declaration_or_any_sense_is_refused(
    tmp_path: Path, claims: tuple[Claim, ...], named: str
) -> None:
    operator = foreign_operator(tmp_path / "sample", "sample")
    with pytest.raises(GoldenFault, match=named):
        claimed_results(operator, case_for(operator), claims, 1000, seen=False)


def test_a_list_has_a_bounded_length(tmp_path: Path) -> None:
    outputs = (OutputSpec("y", "same as x", tensor_list=True),)
    operator = replace(foreign_operator(tmp_path / "sample", "sample"), outputs=outputs)
    tensors = claim("float16").tensors * 64
    found = claimed_results(operator, case_for(operator), (Claim(Container.LIST, 64, tensors),), 1000, seen=False)
    assert len(found[0].tensors) == len(PLACEHOLDERS[True].tensors)
    with pytest.raises(GoldenFault, match="65 tensors, at most 64"):
        claimed_results(operator, case_for(operator), (Claim(Container.LIST, 65, tensors),), 1000, seen=False)
