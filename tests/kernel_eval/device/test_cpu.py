"""The CPU device as a case's process uses it."""

from __future__ import annotations

import ctypes
import subprocess
import sys

import pytest
import torch

from kernel_eval.device.cpu import CpuDevice


@pytest.mark.parametrize("dtype", ["bool", "uint8", "float16", "bfloat16", "float32", "int64", "float8_e5m2"])
def test_a_tensor_views_the_memory_it_was_given(dtype: str) -> None:
    size = 6 * getattr(torch, dtype).itemsize
    memory = ctypes.create_string_buffer(size)
    tensor = CpuDevice().tensor(ctypes.addressof(memory), dtype, [2, 3], size)
    assert (tensor.dtype, tuple(tensor.shape)) == (getattr(torch, dtype), (2, 3))
    assert tensor.data_ptr() == ctypes.addressof(memory)
    tensor.view(torch.uint8).fill_(1)
    assert memory.raw == b"\1" * size
    assert tensor.untyped_storage().nbytes() == size


def test_empty_and_scalar_tensors_have_their_shapes() -> None:
    memory = ctypes.create_string_buffer(4)
    device = CpuDevice()
    assert tuple(device.tensor(0, "float32", [0, 4], 0).shape) == (0, 4)
    assert tuple(device.tensor(ctypes.addressof(memory), "float32", [], 4).shape) == ()


def test_only_plain_tensors_in_main_memory_lie_on_the_device() -> None:
    device = CpuDevice()
    assert device.holds(torch.ones(2))
    assert not device.holds(torch.ones(2, device="meta"))
    assert not device.holds(torch.ones(2, 2).to_sparse())


def test_preparing_gives_torch_its_threads() -> None:
    script = "import torch, kernel_eval.device.cpu as cpu; cpu.CpuDevice().prepare(3); print(torch.get_num_threads())"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "3"
