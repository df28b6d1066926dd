"""Keeps the beginning and the end of an endless output."""

from __future__ import annotations

import os

CHUNK_BYTES = 1 << 20


class CappedLog:
    """At most `cap_bytes` of what was fed: its first and last half, with a line between that says what is missing."""

    def __init__(self, cap_bytes: int) -> None:
        self._half = max(cap_bytes // 2, 1)
        self._head = bytearray()
        self._tail = bytearray()
        self.total_bytes = 0

    def feed(self, data: bytes) -> None:
        """Take more output."""
        self.total_bytes += len(data)
        room = self._half - len(self._head)
        self._head += data[: max(room, 0)]
        self._tail += data[max(room, 0) :]
        if len(self._tail) > self._half:
            del self._tail[: -self._half]

    def drain(self, descriptor: int) -> bool:
        """Take what a readable descriptor has now; False at its end. Raises no error where it would block."""
        try:
            data = os.read(descriptor, CHUNK_BYTES)
        except BlockingIOError:
            return True
        self.feed(data)
        return bool(data)

    @property
    def truncated(self) -> bool:
        """Whether something is missing."""
        return self.total_bytes > len(self._head) + len(self._tail)

    def content(self) -> bytes:
        """What was kept, as raw bytes."""
        if not self.truncated:
            return bytes(self._head + self._tail)
        left_out = self.total_bytes - len(self._head) - len(self._tail)
        return bytes(self._head) + f"\n[... {left_out} bytes left out ...]\n".encode() + bytes(self._tail)
