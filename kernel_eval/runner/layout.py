"""Where each tensor of a case lies in the pool. Pure arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kernel_eval.model import CallSpec, TensorSpec

ALIGN_BYTES = 64
PAGE_BYTES = 4096


def _up(value: int, unit: int) -> int:
    return -(-value // unit) * unit


@dataclass(frozen=True)
class Placed:
    """A tensor and its offset in bytes within its buffer."""

    spec: TensorSpec
    offset: int


@dataclass(frozen=True)
class Side:
    """The inputs or the outputs: `groups` has one entry per argument or result; `stride` is a buffer's size."""

    groups: tuple[tuple[Placed, ...], ...]
    stride: int

    @property
    def flat(self) -> tuple[Placed, ...]:
        """All tensors of a buffer in order."""
        return tuple(placed for group in self.groups for placed in group)


@dataclass(frozen=True)
class Window:
    """A page-aligned stretch of a side's memory that a child maps."""

    start: int
    length: int


@dataclass(frozen=True)
class Layout:
    """`count` buffers for a call's cases, followed by one buffer for the warm-up where there is one."""

    call: CallSpec
    count: int
    inputs: Side
    outputs: Side
    warmup: bool = True

    @property
    def buffers(self) -> int:
        """All buffers."""
        return self.count + self.warmup

    @property
    def warmup_index(self) -> int:
        """Index of the warm-up buffer, beyond all buffers where there is none."""
        return self.count

    def for_call(self, call: CallSpec) -> Layout:
        """The same places for another call of the same form, such as another function's. Raises `ValueError`."""
        same = [argument.tensors for argument in call.arguments] == [entry.tensors for entry in self.call.arguments]
        if not same or [r.tensors for r in call.results] != [r.tensors for r in self.call.results]:
            raise ValueError(f"the pool is not laid out for calls of {call.function} with these tensors")
        return replace(self, call=call)

    def size_bytes(self, side: Side) -> int:
        """Bytes of one side's memory, whole pages, never none."""
        return max(_up(side.stride * self.buffers, PAGE_BYTES), PAGE_BYTES)

    def window(self, side: Side, indices: Sequence[int]) -> Window:
        """The pages that hold the buffers `indices`."""
        start = min(indices) * side.stride // PAGE_BYTES * PAGE_BYTES
        end = max(_up((max(indices) + 1) * side.stride, PAGE_BYTES), start + PAGE_BYTES)
        return Window(start, end - start)


def _side(groups: Sequence[Sequence[TensorSpec]]) -> Side:
    offset, placed = 0, []
    for group in groups:
        row = []
        for spec in group:
            row.append(Placed(spec, offset))
            offset = _up(offset + spec.size_bytes, ALIGN_BYTES)
        placed.append(tuple(row))
    return Side(tuple(placed), offset)


def lay_out(call: CallSpec, count: int, *, warmup: bool = True) -> Layout:
    """Arrange `count` buffers and, if wanted, one for the warm-up; every tensor starts at a multiple of 64 bytes."""
    if count < 1:
        raise ValueError(f"a pool needs at least one buffer, not {count}")
    inputs = _side([argument.tensors for argument in call.arguments])
    outputs = _side([result.tensors for result in call.results])
    return Layout(call, count, inputs, outputs, warmup)
