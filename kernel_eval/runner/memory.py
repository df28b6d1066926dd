"""Memory files that the judge shares with children, and what their seals forbid."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import mmap
import os
import time

import torch

from kernel_eval.errors import InternalError
from kernel_eval.model import TensorSpec

SEALED_SIZE = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW
F_SEAL_FUTURE_WRITE = 0x0010
MAP_FIXED = 0x10
POISON = 0xFF
"""NaN in every float dtype the judge knows, −1 in signed integers, the largest value in unsigned ones."""
SEAL_S = 0.5
HUGE_BYTES = 2 << 20
MADV_POPULATE_WRITE, MADV_COLLAPSE = 23, 25
"""Linux 6.1; where the kernel does not know it, mapping large pools merely takes longer."""


def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *(ctypes.c_int,) * 3, ctypes.c_long)
    libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
    libc.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    return libc


def use_huge_pages(descriptor: int, start: int, length: int) -> bool:
    """Bring a stretch of a memory file, in multiples of `HUGE_BYTES`, into huge pages; False where that fails.

    Every process that maps the file afterwards, at an address of the same alignment, then
    maps and unmaps it in a few steps instead of one per 4 KiB.
    """
    libc = _libc()
    room = libc.mmap(None, length + HUGE_BYTES, 0, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
    if room == ctypes.c_void_p(-1).value:
        return False
    try:
        aligned = -(-room // HUGE_BYTES) * HUGE_BYTES
        flags = mmap.MAP_SHARED | MAP_FIXED
        if libc.mmap(aligned, length, mmap.PROT_READ, flags, descriptor, start) != aligned:
            return False
        return bool(libc.madvise(aligned, length, MADV_COLLAPSE) == 0)
    finally:
        libc.munmap(room, length + HUGE_BYTES)


class MemoryFile:
    """An anonymous file mapped by the judge for reading and writing; its size is sealed.

    With `read_only_outside` nobody else can ever write to it, not even its owner: only
    the judge's mapping, older than the seal, still can.
    """

    def __init__(self, name: str, size_bytes: int, *, read_only_outside: bool) -> None:
        self.size_bytes = size_bytes
        self._descriptor = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self._descriptor, size_bytes)
        self.map = mmap.mmap(self._descriptor, size_bytes, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
        seals = SEALED_SIZE
        if read_only_outside:
            seals |= F_SEAL_FUTURE_WRITE | fcntl.F_SEAL_SEAL
            os.fchmod(self._descriptor, 0o400)
        fcntl.fcntl(self._descriptor, fcntl.F_ADD_SEALS, seals)
        flags = os.O_RDONLY if read_only_outside else os.O_RDWR
        self.shared = os.open(f"/proc/self/fd/{self._descriptor}", flags | os.O_CLOEXEC)
        self._huge = 0
        self._address = ctypes.addressof(ctypes.c_char.from_buffer(self.map))

    def expect(self, length: int) -> None:
        """Make the first `length` bytes cheap to map, once; small files stay as they are."""
        wanted = min(-(-length // HUGE_BYTES), self.size_bytes // HUGE_BYTES) * HUGE_BYTES
        if length >= HUGE_BYTES and wanted > self._huge:
            with contextlib.suppress(OSError):  # Linux before 5.14 faults them in later, one by one
                self.map.madvise(MADV_POPULATE_WRITE, self._huge, wanted - self._huge)
            use_huge_pages(self.shared, self._huge, wanted - self._huge)
            self._huge = wanted

    def fill(self, value: int, start: int, length: int) -> None:
        """Set a stretch of bytes. One thread, so that no thread pool of the judge spins afterwards."""
        if start < 0 or length < 0 or start + length > self.size_bytes:
            raise ValueError(f"{length} bytes from {start} do not lie in {self.size_bytes}")
        ctypes.memset(self._address + start, value, length)

    def tensor(self, spec: TensorSpec, offset: int) -> torch.Tensor:
        """A view of the memory as a tensor."""
        return view(self.map, spec, offset)

    def rows(self, spec: TensorSpec, offset: int, count: int, stride_bytes: int) -> torch.Tensor:
        """The flat tensors at `offset` and every `stride_bytes` from there as rows of one view."""
        dtype = getattr(torch, spec.dtype)
        if not spec.elements:
            return torch.empty((count, 0), dtype=dtype)
        last = TensorSpec(spec.dtype, ((stride_bytes * (count - 1) + spec.size_bytes) // dtype.itemsize,))
        return view(self.map, last, offset).as_strided((count, spec.elements), (stride_bytes // dtype.itemsize, 1))

    def close(self) -> None:
        """Give the descriptors back. The memory goes with the last tensor that views it."""
        for descriptor in (self._descriptor, self.shared):
            os.close(descriptor)


class SealedOnce:
    """An output file for one play of a small case: poisoned by writing, sealed once the child is dead."""

    def __init__(self, size_bytes: int) -> None:
        self.size_bytes = size_bytes
        self.shared = os.memfd_create("outputs", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.pwrite(self.shared, bytes([POISON]) * size_bytes, 0)
        fcntl.fcntl(self.shared, fcntl.F_ADD_SEALS, SEALED_SIZE)

    def seal(self) -> mmap.mmap:
        """Seal against writing and map for reading. Raises `InternalError` while anybody can still write."""
        deadline = time.monotonic() + SEAL_S
        while True:
            try:
                fcntl.fcntl(self.shared, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SEAL)
            except OSError as error:
                if time.monotonic() > deadline:
                    raise InternalError(f"the outputs of a dead child cannot be sealed: {error}") from error
                time.sleep(0.001)
            else:
                return mmap.mmap(self.shared, self.size_bytes, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE)

    def close(self) -> None:
        """Give the descriptor back."""
        os.close(self.shared)


def view(memory: mmap.mmap, spec: TensorSpec, offset: int) -> torch.Tensor:
    """The tensor that lies at `offset` in a mapping."""
    dtype = getattr(torch, spec.dtype)
    if not spec.elements:
        return torch.empty(spec.shape, dtype=dtype)
    return torch.frombuffer(memory, dtype=dtype, count=spec.elements, offset=offset).reshape(spec.shape)
