"""Walking over large tensors in cache-sized pieces on all cores."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

CHUNK = 1 << 15
"""Elements per piece where PyTorch computes: temporaries stay in the cache, and PyTorch stays in the calling thread."""
ALONE = 1 << 18
"""So many elements are one thread's share; up to that, further threads would cost more than they save."""
Result = TypeVar("Result")


def over_chunks(count: int, work: Callable[[int, int], Result], chunk: int | None = None) -> list[Result]:
    """`work(start, stop)` for every piece of `count` elements; results in order, whatever the number of threads."""
    size = chunk or CHUNK
    share = max(ALONE // size, 1) * size

    def run(first: int, last: int) -> list[Result]:
        return [work(start, min(start + size, count)) for start in range(first, last, size)]

    if count <= share:
        return run(0, count)
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as threads:
        groups = threads.map(lambda first: run(first, min(first + share, count)), range(0, count, share))
        return [result for group in groups for result in group]


class Scratch(threading.local):
    """Arrays that a thread uses again for every piece; they are gone with the thread or this object."""

    def __init__(self) -> None:
        self._arrays: dict[str, NDArray[Any]] = {}

    def array(self, name: str, count: int, dtype: type[np.floating[Any]]) -> NDArray[Any]:
        """`count` elements under a name, with whatever was in them."""
        found = self._arrays.get(name)
        if found is None or found.size < count or found.dtype != dtype:
            found = self._arrays[name] = np.empty(count, dtype)
        return found[:count]


class Floats:
    """A flat float tensor, read piece by piece in another precision.

    NumPy computes the pieces: its calls cost a fraction of PyTorch's, and it
    never spreads one over threads, however long the piece is.
    """

    def __init__(self, tensor: torch.Tensor) -> None:
        self._tensor = tensor
        self._array: NDArray[Any] | None = tensor.numpy() if tensor.dtype in (torch.float32, torch.float64) else None

    def read(self, start: int, stop: int, into: NDArray[Any]) -> NDArray[Any]:
        """The elements from `start` to `stop`: a view where the precision is `into`'s already, else written there.

        To be called under `np.errstate`: converting a signalling NaN counts as an invalid operation.
        """
        if self._array is not None:
            part = self._array[start:stop]
            if part.dtype == into.dtype:
                return part
            np.copyto(into, part)
            return into
        target = torch.from_numpy(into)
        for first in range(0, stop - start, CHUNK):
            target[first : first + CHUNK].copy_(self._tensor[start + first : min(start + first + CHUNK, stop)])
        return into
