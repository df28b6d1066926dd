"""The CPU as a case's process sees it. Imported inside a box: torch and the standard library only."""

from __future__ import annotations

import ctypes
import os
from typing import Any

import torch


class CpuDevice:
    """Makes tensors over given memory, and tells whether a tensor lies on this device."""

    name = "cpu"

    def prepare(self, threads: int) -> None:
        """Give torch its threads. Called in the case's process, since threads do not survive a fork."""
        self.settle()
        torch.set_num_threads(threads)

    def settle(self) -> None:
        """Bring this thread to the first core and leave it free: OpenMP ties its other threads to the other cores.

        Threads that an operator makes itself inherit the freedom.
        """
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, cores[:1])
        os.sched_setaffinity(0, cores)

    def synchronize(self) -> None:
        """Wait until all work is done; on a CPU a call that returned has done it."""

    def holds(self, tensor: torch.Tensor) -> bool:
        """Whether the tensor is a plain strided one in main memory."""
        return tensor.device.type == "cpu" and tensor.layout is torch.strided

    def tensor(self, address: int, dtype: str, shape: list[int], size_bytes: int) -> torch.Tensor:
        """A tensor with a storage of its own over `size_bytes` bytes at `address`."""
        kind: Any = getattr(torch, dtype)
        if not size_bytes:
            return torch.empty(shape, dtype=kind)
        memory = (ctypes.c_char * size_bytes).from_address(address)
        return torch.frombuffer(memory, dtype=kind).reshape(shape)
