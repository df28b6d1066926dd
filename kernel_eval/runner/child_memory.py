"""Maps the judge's memory into a case's process and places its tensors. Runs inside a box."""

from __future__ import annotations

import ctypes
import mmap
import os
from typing import Any

from kernel_eval.device.cpu import CpuDevice

PROT_READ, PROT_WRITE = 1, 2
MAP_SHARED, MAP_PRIVATE, MAP_FIXED, MAP_ANONYMOUS = 1, 2, 0x10, 0x20
HUGE_BYTES = 2 << 20
MADV_POPULATE_READ, MADV_POPULATE_WRITE = 22, 23
FAILED = ctypes.c_void_p(-1).value


def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *(ctypes.c_int,) * 3, ctypes.c_long)
    libc.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    return libc


def _checked(failed: bool, what: str) -> None:
    if failed:
        code = ctypes.get_errno()
        raise MemoryError(f"{what}: {os.strerror(code)}")


def _aligned_place(libc: ctypes.CDLL, side: dict[str, int]) -> int | None:
    """For large maps an address that huge pages of the file fit onto, from a reservation of this process's own."""
    if side["length"] < HUGE_BYTES:
        return None
    room = libc.mmap(None, side["length"] + HUGE_BYTES, 0, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    _checked(room == FAILED, "reserving room for the tensors")
    return int(room) + (side["offset"] - int(room)) % HUGE_BYTES


def map_side(descriptor: int, side: dict[str, int], *, writable: bool, private: bool) -> int:
    """Map one side's window with every page faulted in; the address that buffer 0 has, or would have, in it."""
    libc = _libc()
    protection = PROT_READ | (PROT_WRITE if writable or private else 0)
    place = _aligned_place(libc, side)
    flags = (MAP_PRIVATE if private else MAP_SHARED) | (MAP_FIXED if place else 0)
    address = libc.mmap(place, side["length"], protection, flags, descriptor, side["offset"])
    _checked(address == FAILED, "mapping the tensors")
    advice = MADV_POPULATE_WRITE if writable else MADV_POPULATE_READ
    _checked(libc.madvise(address, side["length"], advice) != 0, "faulting the tensors in")
    return int(address) - side["start"]


def _table(descriptor: int, place: dict[str, int]) -> mmap.mmap:
    """The part of the plan's file in which the judge reads where results lie."""
    return mmap.mmap(descriptor, place["length"], offset=place["offset"])


class Buffers:
    """Arguments and result slots of every buffer, as tensors over the judge's memory."""

    def __init__(self, plan: dict[str, Any], device: CpuDevice, inputs: int, outputs: int, document: int) -> None:
        """Map both sides and the table; raises `MemoryError` where the address space does not suffice."""
        self._plan, self._device = plan, device
        self._in_base = map_side(inputs, plan["inputs"], writable=False, private=plan["in_place"])
        self.out_base = map_side(outputs, plan["outputs"], writable=True, private=False)
        self.table = _table(document, plan["table"])
        self.out_stride: int = plan["outputs"]["stride"]
        self.slots: list[list[Any]] = [slot for _, group in plan["results"] for slot in group]

    def _tensor(self, base: int, tensor: list[Any]) -> Any:
        dtype, shape, offset, size_bytes = tensor
        return self._device.tensor(base + offset, dtype, shape, size_bytes)

    def arguments(self, index: int) -> dict[str, Any]:
        """Keyword arguments of a call on buffer `index`."""
        base = self._in_base + index * self._plan["inputs"]["stride"]
        found: dict[str, Any] = {}
        for name, is_list, group in self._plan["arguments"]:
            made = [self._tensor(base, tensor) for tensor in group]
            found[name] = made if is_list else (made[0] if made else None)
        return {**found, **self._plan["attributes"]}

    def slot_addresses(self, index: int) -> list[int]:
        """Where buffer `index`'s results belong; 0 for an empty result, which lies nowhere."""
        base = self.out_base + index * self.out_stride
        return [base + offset if size_bytes else 0 for _, _, offset, size_bytes in self.slots]

    def slot(self, index: int, position: int) -> Any:
        """One result's slot as a tensor."""
        return self._tensor(self.out_base + index * self.out_stride, self.slots[position])
