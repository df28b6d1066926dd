"""Damaged output files: one clear line or a verdict that holds, never a traceback and never a false accept."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from kernel_eval.check.pairs import compare_pairs
from kernel_eval.check.tensor_files import read_tensors
from kernel_eval.errors import UsageError
from tests.factories.slow_check import accepts
from tests.factories.slow_rules import integers_accept
from tests.kernel_eval.check.test_tensor_files import mutated

GOLDEN = {
    "e": torch.tensor([1.0, -2.0, 448.0, 0.5]).to(torch.float8_e4m3fn),
    "h": torch.tensor([[1.0, 2.0], [float("nan"), float("inf")]]).half(),
    "y": torch.linspace(-2, 2, 96).reshape(12, 8),
    "z": torch.tensor([1, -(2**63), 2**63 - 1]),
}


def right(name: str, found: torch.Tensor) -> bool:
    """Whether a tensor may be accepted, by the slow references."""
    golden = GOLDEN[name]
    if (found.dtype, found.shape) != (golden.dtype, golden.shape):
        return False
    if not found.dtype.is_floating_point:
        return integers_accept(found.tolist(), golden.tolist(), golden.tolist(), 0)
    return accepts(found, golden, golden)


def changed(content: bytes, randomness: random.Random) -> bytes:
    """Bytes of the last tensors overwritten, so that the file stays readable."""
    data = bytearray(content)
    for _ in range(randomness.randint(1, 3)):
        data[len(data) - randomness.randint(1, 300)] = randomness.choice([0, 1, 0x7F, 0x80, 0xFF, 0x3F])
    return bytes(data)


def fuzz(folder: Path, count: int) -> tuple[int, int]:
    """(accepted, refused) of `count` damaged files; unreadable ones are neither."""
    randomness, verdicts, lines = random.Random(6), [], []
    save_file(GOLDEN, folder / "whole.safetensors")
    with (folder / "whole.npy").open("wb") as file:
        for name in ("y", "z"):
            np.save(file, GOLDEN[name].numpy())
    for suffix in (".safetensors", ".npy"):
        whole, path = (folder / f"whole{suffix}").read_bytes(), folder / f"found{suffix}"
        names = list(GOLDEN) if suffix == ".safetensors" else ["y", "z"]
        keys = names if suffix == ".safetensors" else ["0", "1"]
        wanted = {key: GOLDEN[name] for key, name in zip(keys, names, strict=True)}
        for turn in range(count // 2):
            path.write_bytes(changed(whole, randomness) if turn % 2 else mutated(whole, randomness))
            try:
                found = read_tensors(path)
                result = compare_pairs(wanted, found, None)
            except UsageError as fault:
                lines.append(str(fault))
                continue
            verdicts.append(result.accepted)
            if result.accepted:
                assert all(right(name, found[key]) for key, name in zip(keys, names, strict=True))
    assert not [line for line in lines if "\n" in line]
    return sum(verdicts), len(verdicts) - sum(verdicts)


def test_damaged_outputs_are_judged_right(tmp_path: Path) -> None:
    accepted, refused = fuzz(tmp_path, 600)
    assert (accepted > 5, refused > 150) == (True, True)


@pytest.mark.slow
def test_ten_thousand_damaged_outputs_are_judged_right(tmp_path: Path) -> None:
    accepted, refused = fuzz(tmp_path, 10_000)
    assert (accepted > 100, refused > 2_500) == (True, True)
