"""Matrix-product rates by dtype, measured by PyTorch. Run as a program in a process of its own:

    python -m kernel_eval.device.matmul_rate THREADS

It prints one JSON object: dtype → floating-point operations per second, best of many.
"""

from __future__ import annotations

import json
import sys
import time

import torch

SIZE = 768
SECONDS_PER_DTYPE = 0.4
DTYPES = ("float64", "float32", "float16", "bfloat16")


def best_rate(dtype: str) -> float:
    """Operations per second of the best of many products of two square matrices."""
    left = torch.ones(SIZE, SIZE, dtype=getattr(torch, dtype))
    best = 0.0
    end = time.monotonic() + SECONDS_PER_DTYPE
    tries = 0
    while tries < 2 or time.monotonic() < end:
        begin = time.perf_counter()
        left @ left
        best = max(best, 2 * SIZE**3 / (time.perf_counter() - begin))
        tries += 1
    return best


def main(threads: int) -> None:
    """Write every dtype's rate to standard output."""
    torch.set_num_threads(threads)
    sys.stdout.write(json.dumps({dtype: best_rate(dtype) for dtype in DTYPES}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
