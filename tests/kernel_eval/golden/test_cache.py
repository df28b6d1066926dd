"""The golden cache: whole records or none, whatever happens; bounded; private."""

from __future__ import annotations

import os
import random
import signal
import stat
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from kernel_eval.golden.cache import GoldenCache
from kernel_eval.golden.call import Golden
from kernel_eval.model import Case, Operator, Split, Suite
from tests.factories.tasks import case_of, golden_of, operator_of

ROOT = Path(__file__).parents[3]


def suite_of(operator: Operator, case: Case, digest: str = "d" * 64) -> Suite:
    return Suite("tiny", "1", digest, (operator,), (case,), {Split.PUBLIC: b"seed", Split.HIDDEN: b"hidden"})


@pytest.fixture
def operator(tmp_path: Path) -> Operator:
    return operator_of(tmp_path / "sample")


@pytest.fixture
def case(operator: Operator) -> Case:
    return case_of(operator, [(5,)])


def same(one: Golden, other: Golden | None) -> bool:
    if other is None or one.results != other.results:
        return False
    pairs = zip(
        (tensor for tensors in one.tensors for tensor in tensors),
        (tensor for tensors in other.tensors for tensor in tensors),
        strict=True,
    )
    return all(
        a.dtype == b.dtype
        and a.shape == b.shape
        and torch.equal(a.reshape(-1).view(torch.uint8), b.reshape(-1).view(torch.uint8))
        for a, b in pairs
    )


EVERYTHING = golden_of(
    torch.tensor([1.0, float("nan"), -0.0]),
    [torch.ones(2, 3, dtype=torch.bfloat16), torch.tensor(2.5, dtype=torch.float16)],
    torch.tensor([2**62, -1]),
    torch.tensor([True, False]),
    torch.empty(0, 4),
)


def test_what_was_put_is_got_back_bit_by_bit(tmp_path: Path, operator: Operator, case: Case) -> None:
    cache, suite = GoldenCache(tmp_path / "cache", 1 << 20), suite_of(operator, case)
    assert cache.get(suite, operator, case, 0) is None
    cache.put(suite, operator, case, 0, EVERYTHING)
    assert same(EVERYTHING, cache.get(suite, operator, case, 0))
    assert same(EVERYTHING, GoldenCache(tmp_path / "cache", 1 << 20).get(suite, operator, case, 0))


def test_everything_a_golden_depends_on_is_in_the_key(tmp_path: Path, operator: Operator, case: Case) -> None:
    cache, suite = GoldenCache(tmp_path / "cache", 1 << 20), suite_of(operator, case)
    cache.put(suite, operator, case, 0, EVERYTHING)
    assert cache.get(suite, operator, case, 1) is None
    assert cache.get(suite_of(operator, case, "e" * 64), operator, case, 0) is None
    assert cache.get(replace(suite, seeds={Split.PUBLIC: b"other"}), operator, case, 0) is None
    assert cache.get(suite, operator, replace(case, shapes=((6,),)), 0) is None
    assert cache.get(suite, operator, replace(case, attributes={"a": 1}), 0) is None
    assert cache.get_same_precision(suite, operator, case, 0) is None
    (operator.folder / "golden.py").write_text("def golden(x):\n    return x + 1\n")
    assert cache.get(suite, operator, case, 0) is None


def test_the_same_precision_run_is_kept_beside_the_golden(tmp_path: Path, operator: Operator, case: Case) -> None:
    cache, suite = GoldenCache(tmp_path / "cache", 1 << 20), suite_of(operator, case)
    golden = golden_of(torch.tensor([1.0]))
    cache.put_same_precision(suite, operator, case, 0, ((torch.tensor([1.5]),),), golden.results)
    found = cache.get_same_precision(suite, operator, case, 0)
    assert found is not None
    assert found[0][0].item() == 1.5
    assert cache.get(suite, operator, case, 0) is None


def test_a_damaged_record_counts_as_absent_and_is_removed(tmp_path: Path, operator: Operator, case: Case) -> None:
    cache, suite = GoldenCache(tmp_path / "cache", 1 << 20), suite_of(operator, case)
    chance = random.Random(3)
    for _ in range(200):
        cache.put(suite, operator, case, 0, EVERYTHING)
        (path,) = (tmp_path / "cache").glob("??/*")
        data = bytearray(path.read_bytes())
        damage = chance.randrange(3)
        if damage == 0:
            data = data[: chance.randrange(len(data))]
        elif damage == 1:
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        else:
            data += b"\0" * chance.randint(1, 9)
        path.write_bytes(data)
        assert cache.get(suite, operator, case, 0) is None
        assert not list((tmp_path / "cache").glob("??/*"))


def test_files_belong_to_their_owner_alone(tmp_path: Path, operator: Operator, case: Case) -> None:
    cache = GoldenCache(tmp_path / "cache", 1 << 20)
    cache.put(suite_of(operator, case), operator, case, 0, EVERYTHING)
    for path in [tmp_path / "cache", *(tmp_path / "cache").rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0


def test_the_cache_stays_bounded_and_drops_what_was_longest_unused(
    tmp_path: Path, operator: Operator, case: Case
) -> None:
    cache, suite = GoldenCache(tmp_path / "cache", 100_000), suite_of(operator, case)
    golden = golden_of(torch.zeros(2_000))
    for trial in range(40):
        cache.put(suite, operator, case, trial, golden)
        for age, path in enumerate(sorted((tmp_path / "cache").glob("??/*"), key=lambda p: p.stat().st_mtime)):
            os.utime(path, (1_000 + age, 1_000 + age))
        assert cache.get(suite, operator, case, 0) is not None
        assert sum(path.stat().st_size for path in (tmp_path / "cache").glob("??/*")) <= 110_000
    assert cache.get(suite, operator, case, 1) is None
    cache.put(suite, operator, case, 99, golden_of(torch.zeros(200_000)))
    assert cache.get(suite, operator, case, 99) is None


def test_an_unwritable_disk_is_no_error(
    tmp_path: Path, operator: Operator, case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, suite = GoldenCache(tmp_path / "cache", 1 << 20), suite_of(operator, case)

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    cache.put(suite, operator, case, 0, EVERYTHING)
    assert cache.get(suite, operator, case, 0) is None
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


def test_abandoned_scratch_files_are_swept(tmp_path: Path, operator: Operator, case: Case) -> None:
    folder = tmp_path / "cache" / "ab"
    folder.mkdir(parents=True)
    old, fresh = folder / "old.part", folder / "fresh.part"
    old.write_bytes(b"x")
    fresh.write_bytes(b"x")
    os.utime(old, (1, 1))
    GoldenCache(tmp_path / "cache", 1 << 20).put(suite_of(operator, case), operator, case, 0, EVERYTHING)
    assert not old.exists()
    assert fresh.exists()


WRITER = """
import sys, torch
from pathlib import Path
from kernel_eval.golden.cache import GoldenCache
from kernel_eval.model import Split, Suite
from tests.factories.tasks import case_of, golden_of, operator_of

root, number = Path(sys.argv[1]), int(sys.argv[2])
operator = operator_of(root / "sample")
case = case_of(operator, [(5,)])
suite = Suite("tiny", "1", "d" * 64, (operator,), (case,), {Split.PUBLIC: b"seed"})
cache = GoldenCache(root / "cache", 4_000_000)
print("ready", flush=True)
while True:
    for trial in range(20):
        cache.put(suite, operator, case, trial, golden_of(torch.full((30_000,), float(trial))))
        found = cache.get(suite, operator, case, trial)
        assert found is None or bool((found.tensors[0][0] == trial).all()), "a wrong golden was read"
"""


def test_writers_that_are_killed_leave_whole_records_only(tmp_path: Path, operator: Operator, case: Case) -> None:
    program = [sys.executable, "-c", WRITER, str(tmp_path)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    writers = [
        subprocess.Popen([*program, str(number)], cwd=ROOT, env=environment, stdout=subprocess.PIPE)
        for number in range(2)
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"ready\n"
    time.sleep(0.7)
    for writer in writers:
        assert writer.poll() is None, "a writer read a wrong golden"
        writer.send_signal(signal.SIGKILL)
        writer.communicate()
    cache, suite = GoldenCache(tmp_path / "cache", 4_000_000), suite_of(operator, case)
    found = [cache.get(suite, operator, case, trial) for trial in range(20)]
    assert any(found)
    for trial, golden in enumerate(found):
        assert golden is None or bool((golden.tensors[0][0] == trial).all())
