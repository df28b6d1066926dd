"""Random streams: one per tensor and stretch, each from its own 256-bit key.

Every stream is PCG64 seeded by SHA-256, and only its raw 64-bit words are used,
so that the bits depend on no distribution code and on no number of threads.
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

STRETCH = 1 << 20
"""Elements of a tensor that one stream serves; threads share work by stretches."""


def stream(seed: bytes, *path: str | int) -> np.random.Generator:
    """The stream at `path` below `seed`."""
    name = "/".join(map(str, path)).encode("utf-8")
    key = hashlib.sha256(len(seed).to_bytes(4, "big") + seed + name).digest()
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(int.from_bytes(key, "big"))))


def words64(generator: np.random.Generator, count: int) -> NDArray[np.uint64]:
    """The next `count` raw 64-bit words, whose stream numpy guarantees; lets other threads run meanwhile."""
    words: NDArray[np.uint64] = generator.bit_generator.random_raw(count)
    return words


def words32(generator: np.random.Generator, count: int) -> NDArray[np.int32]:
    """`count` signed 32-bit words, the low half of each raw word first (little-endian, whatever the host)."""
    words = words64(generator, (count + 1) // 2)
    return words.astype("<u8", copy=False).view("<i4")[:count].astype(np.int32, copy=False)
