"""Walking over large tensors in cache-sized pieces on all cores."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

CHUNK = 1 << 15
"""Elements per piece: temporaries stay in the cache, and PyTorch stays in the calling thread."""
ALONE = 8
"""So many pieces at a time are one thread's share; up to that, further threads would cost more than they save."""
Result = TypeVar("Result")


def over_chunks(count: int, work: Callable[[int, int], Result]) -> list[Result]:
    """`work(start, stop)` for every piece of `count` elements; results in order, whatever the number of threads."""

    def run(first: int, last: int) -> list[Result]:
        return [work(start, min(start + CHUNK, count)) for start in range(first, last, CHUNK)]

    if count <= ALONE * CHUNK:
        return run(0, count)
    share = ALONE * CHUNK
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as threads:
        groups = threads.map(lambda first: run(first, min(first + share, count)), range(0, count, share))
        return [result for group in groups for result in group]
