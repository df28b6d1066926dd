"""Values of one tensor, written into memory the caller owns."""

from __future__ import annotations

import math

import numpy as np
import torch

from kernel_eval.cases.streams import STRETCH, stream, words32, words64
from kernel_eval.errors import InternalError
from kernel_eval.model import RangeKind, ValueRange

BLOCK = 1 << 15
"""Elements per step: scratch memory stays in the cache, and PyTorch stays in the calling thread."""
INFINITE_SHARE = 0.05
EIGHT_BIT_NAN = 0x7F
"""The bits of a NaN in both eight-bit float dtypes."""
WORDS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
"""Signed integers by bytes."""
_WORD_STEP = 2.0**-31


def fill_tensor(target: torch.Tensor, values: ValueRange, seed: bytes, path: tuple[str | int, ...]) -> None:
    """Fill a contiguous tensor from the streams at `path` below `seed`."""
    flat = target.view(-1)
    for start in range(0, flat.numel(), STRETCH):
        fill_stretch(flat[start : start + STRETCH], values, seed, (*path, start // STRETCH))
    finish_tensor(flat, values)


def fill_stretch(flat: torch.Tensor, values: ValueRange, seed: bytes, path: tuple[str | int, ...]) -> None:
    """Fill one stretch; independent of every other stretch."""
    if values.kind is RangeKind.ZERO:
        flat.zero_()
        return
    generator = stream(seed, *path, "values")
    if flat.dtype.is_floating_point:
        _fill_floats(flat, *float_bounds(flat.dtype, values), generator)
    else:
        _fill_integers(flat, *integer_bounds(flat.dtype, values), generator)
    if values.kind is RangeKind.NAN and flat.dtype.is_floating_point:
        _overlay_nan(flat, stream(seed, *path, "nan"))


def finish_tensor(flat: torch.Tensor, values: ValueRange) -> None:
    """What concerns the tensor as a whole: infinities at both ends, the dtype's extremes at a boundary.

    The first 5 % become -inf and the last 5 % +inf (at least one each, where there are two elements).
    """
    count = flat.numel()
    if count < 2 or not flat.dtype.is_floating_point:
        return
    if values.kind is RangeKind.INF:
        share = max(1, int(count * INFINITE_SHARE))
        flat[:share] = -infinity(flat.dtype)
        flat[count - share :] = infinity(flat.dtype)
    if values.kind is RangeKind.BOUNDARY:
        flat[0] = -torch.finfo(flat.dtype).max
        flat[count - 1] = torch.finfo(flat.dtype).max


def shift_floats(flat: torch.Tensor, by: float) -> None:
    """Add `by` to every element, in float32 and rounded once; integers stay."""
    if not flat.dtype.is_floating_point:
        return
    for start in range(0, flat.numel(), BLOCK):
        block = flat[start : start + BLOCK]
        block.copy_(block.to(torch.float32).add_(by))


def mark_nan(target: torch.Tensor, marks: torch.Tensor) -> None:
    """Set NaN where `marks` are −1; where they are 0, values stay. `marks` are signed integers of any width.

    Done by bits, several times faster than torch's fill under a mask; a quiet NaN without a sign, as that writes.
    """
    words = WORDS[target.element_size()]
    bits = target.view(words)
    nan = EIGHT_BIT_NAN if words == torch.int8 else torch.tensor(math.nan, dtype=target.dtype).view(words)
    bits.bitwise_xor_(torch.bitwise_xor(bits, nan).bitwise_and_(marks.to(words)))


def infinity(dtype: torch.dtype) -> float:
    """Infinity, or the largest number of a dtype that has no infinity."""
    return torch.finfo(dtype).max if dtype == torch.float8_e4m3fn else math.inf


def float_bounds(dtype: torch.dtype, values: ValueRange) -> tuple[float, float]:
    """The lowest and highest value, both finite in `dtype`."""
    largest = torch.finfo(dtype).max
    if values.kind is RangeKind.BOUNDARY:
        return -largest, largest
    return max(values.low, -largest), min(values.high, largest)


def integer_bounds(dtype: torch.dtype, values: ValueRange) -> tuple[int, int]:
    """The lowest and highest value, both representable in `dtype`; inclusive."""
    least, most = (0, 1) if dtype == torch.bool else (int(torch.iinfo(dtype).min), int(torch.iinfo(dtype).max))
    if values.kind is RangeKind.BOUNDARY:
        return least, most
    low, high = max(math.ceil(values.low), least), min(math.floor(values.high), most)
    return low, max(low, high)


def _fill_floats(flat: torch.Tensor, low: float, high: float, generator: np.random.Generator) -> None:
    """Evenly spread values: centre + half width · word · 2⁻³¹, one rounding each, then clamped into the range.

    float64 tensors are drawn through float32 as well; their values carry 24 random bits. Raises `InternalError` where
    float32 does not hold the range.
    """
    with np.errstate(over="ignore"):
        step, centre = np.float32((high / 2 - low / 2) * _WORD_STEP), np.float32(low / 2 + high / 2)
    if not (np.isfinite(step) and np.isfinite(centre)):
        raise InternalError(f"values from {low:g} to {high:g} are drawn through float32, which does not hold them")
    lowest, highest = _ends(step, centre)
    leaves_range = lowest < low or highest > high
    direct = flat.dtype == torch.float32
    scratch = np.empty(BLOCK, np.float32)
    for start in range(0, flat.numel(), BLOCK):
        block = flat[start : start + BLOCK]
        drawn = block.numpy() if direct else scratch[: block.numel()]
        with np.errstate(over="ignore"):
            np.copyto(drawn, words32(generator, block.numel()), casting="unsafe")
            np.multiply(drawn, step, out=drawn)
            if centre:
                np.add(drawn, centre, out=drawn)
            if leaves_range:
                np.clip(drawn, np.float32(low), np.float32(high), out=drawn)
        if not direct:
            block.copy_(torch.from_numpy(drawn))


def _overlay_nan(flat: torch.Tensor, generator: np.random.Generator) -> None:
    """Make about half of the elements NaN, one random bit each."""
    for start in range(0, flat.numel(), BLOCK):
        block = flat[start : start + BLOCK]
        words = words64(generator, (block.numel() + 63) // 64).astype("<u8", copy=False)
        ones = np.unpackbits(words.view(np.uint8), bitorder="little")[: block.numel()]
        mark_nan(block, torch.from_numpy(ones.view(np.int8)).neg_())


def _ends(step: np.float32, centre: np.float32) -> tuple[float, float]:
    """What the lowest and the highest word become; rounding is monotonic, so every value lies between them."""
    with np.errstate(over="ignore"):
        reach = np.float32(2.0**31) * step
        return float(centre - reach), float(centre + reach)


def _fill_integers(flat: torch.Tensor, low: int, high: int, generator: np.random.Generator) -> None:
    """Evenly spread integers from `low` to `high` inclusive; the bias is below 2⁻³²."""
    span = high - low + 1
    array = flat.numpy()
    for start in range(0, flat.numel(), BLOCK):
        block = array[start : start + BLOCK]
        if span <= 1 << 31:
            words = words32(generator, block.size).view(np.uint32).astype(np.uint64)
            offsets = (words * np.uint64(span)) >> np.uint64(32)
        else:
            offsets = words64(generator, block.size)
            offsets = offsets if span == 1 << 64 else offsets % np.uint64(span)
        shifted = offsets + np.uint64(low % (1 << 64))
        block[...] = shifted.view(np.int64).astype(block.dtype, copy=False)
