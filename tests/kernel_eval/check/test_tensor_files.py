"""Files of tensors: what is read, and that nothing damaged is read, runs code or ends in a traceback."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from kernel_eval.check.tensor_files import read_tensors
from kernel_eval.errors import UsageError


def npy(path: Path, *arrays: np.ndarray) -> Path:
    with path.open("wb") as file:
        for array in arrays:
            np.save(file, array)
    return path


def test_npy_files_hold_one_array_after_another(tmp_path: Path) -> None:
    first, second = np.arange(6, dtype=np.float32).reshape(2, 3), np.array(7, dtype=np.int64)
    found = read_tensors(npy(tmp_path / "a.npy", first, second))
    assert list(found) == ["0", "1"]
    assert found["0"].tolist() == first.tolist()
    assert (found["1"].shape, found["1"].dtype, found["1"].item()) == (torch.Size([]), torch.int64, 7)


def test_fortran_order_and_foreign_byte_order_are_brought_home(tmp_path: Path) -> None:
    array = np.asfortranarray(np.arange(6, dtype=">f8").reshape(2, 3))
    found = read_tensors(npy(tmp_path / "a.npy", array))["0"]
    assert found.is_contiguous()
    assert found.tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float8_e4m3fn, torch.uint64, torch.bool])
def test_safetensors_keep_names_and_dtypes(tmp_path: Path, dtype: torch.dtype) -> None:
    save_file({"b": torch.ones(2, 3).to(dtype), "a": torch.zeros(0).to(dtype)}, tmp_path / "t.safetensors")
    found = read_tensors(tmp_path / "t.safetensors")
    assert list(found) == ["a", "b"]
    assert {tensor.dtype for tensor in found.values()} == {dtype}
    assert found["b"].shape == (2, 3)


def test_each_wrong_file_is_refused_in_one_line_that_names_it(tmp_path: Path) -> None:
    text, empty, objects, fields = (tmp_path / name for name in ("t.txt", "e.npy", "o.npy", "f.npy"))
    text.write_text("1 2 3")
    empty.write_bytes(b"")
    np.save(objects, np.array([{}], dtype=object), allow_pickle=True)
    np.save(fields, np.zeros(3, dtype=[("a", "f4")]))
    folder = tmp_path / "d.npy"
    folder.mkdir()
    for path in (text, empty, objects, fields, folder, tmp_path / "missing.npy", tmp_path / "x.safetensors"):
        with pytest.raises(UsageError) as refused:
            read_tensors(path)
        assert path.name in str(refused.value)
        assert "\n" not in str(refused.value)


def mutated(content: bytes, randomness: random.Random) -> bytes:
    data = bytearray(content)
    for _ in range(randomness.randint(1, 8)):
        kind, at = randomness.randrange(4), randomness.randrange(len(data) or 1)
        if kind == 0 and data:
            data[at] = randomness.randrange(256)
        elif kind == 1:
            del data[at : at + randomness.randint(1, 40)]
        elif kind == 2:
            data[at:at] = randomness.randbytes(randomness.randint(1, 40))
        elif data:
            data[at : at + 8] = randomness.choice([b"\xff" * 8, b"\0" * 8, b"99999999", b"-1      "])
    return bytes(data)


def fuzz(folder: Path, count: int) -> int:
    """How many of `count` damaged files were refused; the others are still tensors."""
    randomness = random.Random(5)
    save_file({"y": torch.arange(12.0).reshape(3, 4), "z": torch.ones(2, dtype=torch.int8)}, folder / "a.safetensors")
    npy(folder / "a.npy", np.arange(12, dtype=np.float32).reshape(3, 4), np.ones(2, dtype=np.int8))
    messages = []
    for suffix in (".safetensors", ".npy"):
        whole, path = (folder / f"a{suffix}").read_bytes(), folder / f"b{suffix}"
        for _ in range(count // 2):
            path.write_bytes(mutated(whole, randomness))
            try:
                assert all(isinstance(tensor, torch.Tensor) for tensor in read_tensors(path).values())
            except UsageError as fault:
                messages.append(str(fault))
    assert not [message for message in messages if "\n" in message]
    return len(messages)


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    assert fuzz(tmp_path, 400) > 100


@pytest.mark.slow
def test_ten_thousand_damaged_files_are_refused(tmp_path: Path) -> None:
    assert fuzz(tmp_path, 10_000) > 2_500
