"""The allocator that puts results into the judge's memory, as seen from Python. Runs inside a box."""

from __future__ import annotations

import ctypes


class Arena:
    """The loaded extension. Without a layout it passes every request on."""

    def __init__(self, library: str) -> None:
        """Load the extension; torch must have been imported before."""
        self._library = ctypes.CDLL(library)
        for name in ("hap_arena_current_call", "hap_arena_refused"):
            getattr(self._library, name).restype = ctypes.POINTER(ctypes.c_int64)
        self._current: ctypes.c_int64 = self._library.hap_arena_current_call().contents
        self._refused = self._library.hap_arena_refused().contents

    def install(self) -> None:
        """Make it torch's CPU allocator."""
        self._library.hap_arena_install()

    def lay_out(self, base: int, calls: int, stride: int, slots: list[tuple[int, int]]) -> None:
        """Name the slots: offset and size of each within a call's stretch of `stride` bytes from `base`."""
        kind = ctypes.c_int64 * max(len(slots), 1)
        offsets, sizes = kind(*(offset for offset, _ in slots)), kind(*(size for _, size in slots))
        self._library.hap_arena_lay_out(
            ctypes.c_void_p(base),
            ctypes.c_int64(calls),
            ctypes.c_int64(stride),
            offsets,
            sizes,
            ctypes.c_int64(len(slots)),
        )

    def learn(self, addresses: list[int]) -> None:
        """After a call of the warm-up: where its results lie, one address per slot, so that slots go to results."""
        kind = ctypes.c_int64 * max(len(addresses), 1)
        self._library.hap_arena_learn(kind(*addresses), ctypes.c_int64(len(addresses)))

    @property
    def current(self) -> ctypes.c_int64:
        """The integer that names the current call; −1 for none."""
        return self._current

    @property
    def refused(self) -> bool:
        """Whether an allocation failed for want of memory."""
        return bool(self._refused.value)
