"""Input and output memory shared with children."""

from __future__ import annotations

import mmap
import random
from collections.abc import Iterator, Sequence

import torch

from kernel_eval.errors import InternalError
from kernel_eval.model import CallSpec
from kernel_eval.runner.layout import PAGE_BYTES, Layout, Window, lay_out
from kernel_eval.runner.memory import POISON, MemoryFile, SealedOnce, view

SEALED_BELOW_BYTES = 16 << 20
"""Single plays with outputs smaller than this get a fresh file that is sealed against writing before it is read."""


class Pool:
    """Buffers of one case at a time, in memory files that are reused from case to case.

    `lay_out` gives `count` buffers, each with its own inputs and output slots, plus
    one warm-up buffer outside the count. The input views are writable at all times, so
    a timed case is filled after its children stand prepared and stopped: then no
    child has ever seen the values before its clock runs.

    Which memory a buffer gets is drawn anew by every `lay_out`, so neither an address nor
    a plan tells a child which index a buffer has, and thus which outputs will be checked.

    Input memory is sealed against shrinking, growing and writing by anybody but the
    judge's own mapping; output memory against shrinking and growing. Not thread-safe.
    """

    def __init__(self, capacity_bytes: int) -> None:
        """Reserve `capacity_bytes` for inputs and as much for outputs; a larger case replaces the memory.

        Memory is used as far as cases touch it.
        """
        size = max(-(-capacity_bytes // PAGE_BYTES) * PAGE_BYTES, PAGE_BYTES)
        self._inputs = MemoryFile("inputs", size, read_only_outside=True)
        self._outputs = MemoryFile("outputs", size, read_only_outside=False)
        self._layout: Layout | None = None
        self._places: list[int] = []
        self._dirty: list[tuple[int, int]] = []
        self._sealed: dict[int, tuple[mmap.mmap, int]] = {}

    @property
    def layout(self) -> Layout:
        """The present arrangement. Raises `InternalError` before the first `lay_out`."""
        if self._layout is None:
            raise InternalError("the pool has no layout yet; call lay_out first")
        return self._layout

    @property
    def input_descriptor(self) -> int:
        """A read-only descriptor of the input memory, to be sent to a child."""
        return self._inputs.shared

    @property
    def output_descriptor(self) -> int:
        """A descriptor of the output memory, to be sent to a child."""
        return self._outputs.shared

    def lay_out(self, call: CallSpec, count: int) -> None:
        """Arrange `count` buffers and the warm-up buffer (zeroed) for calls of this shape; poison all outputs."""
        layout = lay_out(call, count)
        self._arrange(layout, random.SystemRandom().sample(range(count), count))
        self._inputs.expect(layout.size_bytes(layout.inputs))
        self._outputs.expect(layout.size_bytes(layout.outputs))
        stride = layout.inputs.stride
        self._inputs.fill(0, layout.warmup_index * stride, stride)
        self.poison()

    def _arrange(self, layout: Layout, places: list[int]) -> None:
        """Let the memory, larger where need be, stand for `layout`, with buffer i at `places[i]`; poison is to come."""
        self._layout, self._places, self._sealed = layout, places, {}
        inputs, outputs = (layout.size_bytes(side) for side in (layout.inputs, layout.outputs))
        self._inputs = _large_enough(self._inputs, inputs, "inputs", read_only_outside=True)
        self._outputs = _large_enough(self._outputs, outputs, "outputs", read_only_outside=False)
        self.written()

    def place(self, index: int) -> int:
        """Position in memory of buffer `index`. Raises `IndexError`."""
        if not 0 <= index < self.layout.count:
            raise IndexError(f"buffer {index} is not one of {self.layout.count}")
        return self._places[index]

    def _input_views(self, place: int) -> list[torch.Tensor]:
        start = place * self.layout.inputs.stride
        return [self._inputs.tensor(placed.spec, start + placed.offset) for placed in self.layout.inputs.flat]

    def inputs(self, index: int) -> list[torch.Tensor]:
        """Writable views of buffer `index`'s inputs, flat in argument order."""
        return self._input_views(self.place(index))

    def input_columns(self) -> list[torch.Tensor]:
        """One writable view per input tensor over all buffers, shape (count, elements), in argument order."""
        side, count = self.layout.inputs, self.layout.count
        return [self._inputs.rows(placed.spec, placed.offset, count, side.stride) for placed in side.flat]

    def warmup_inputs(self) -> list[torch.Tensor]:
        """Writable views of the warm-up buffer's inputs; never part of an `order`."""
        return self._input_views(self.layout.warmup_index)

    def outputs(self, index: int) -> list[list[torch.Tensor]]:
        """Views of buffer `index`'s results, one list per declared output. Read only after the child is dead."""
        side = self.layout.outputs
        memory, start = self._sealed.get(index, (self._outputs.map, self.place(index) * side.stride))
        return [[view(memory, placed.spec, start + placed.offset) for placed in group] for group in side.groups]

    def poison(self, but: Sequence[int] = ()) -> None:
        """Overwrite every output slot of the layout, so that an unwritten result is seen. Cheap if already done.

        The slots of the buffers `but` stay as they are until the next call. Meanwhile another thread may read those.
        """
        dirty, self._dirty = self._dirty, []
        for start, length in _without(dirty, sorted(map(self.place, but)), self.layout.outputs.stride, self._dirty):
            self._outputs.fill(POISON, start, length)
        self._sealed = {}

    def written(self) -> None:
        """Note that a child may have written to the output memory."""
        self._dirty = [(0, self.layout.size_bytes(self.layout.outputs))]

    def fresh_outputs(self, index: int) -> tuple[SealedOnce, Window] | None:
        """A new output file for one play on buffer `index` and what it stands for; None where outputs are large."""
        window = self.layout.window(self.layout.outputs, [self.place(index)])
        if window.length >= SEALED_BELOW_BYTES:
            return None
        return SealedOnce(window.length), window

    def keep_sealed(self, index: int, memory: mmap.mmap, window: Window) -> None:
        """From now on `outputs(index)` reads a sealed file that stands for `window`."""
        self._sealed[index] = (memory, self.place(index) * self.layout.outputs.stride - window.start)

    def slot(self, index: int, position: int) -> memoryview:
        """The bytes of one result's slot, for the judge to write a result into that did not lie there."""
        placed = self.layout.outputs.flat[position]
        start = self.place(index) * self.layout.outputs.stride + placed.offset
        return memoryview(self._outputs.map)[start : start + placed.spec.size_bytes]

    def close(self) -> None:
        """Free the memory; it goes with the last tensor that views it."""
        self._inputs.close()
        self._outputs.close()


def _large_enough(file: MemoryFile, size_bytes: int, name: str, *, read_only_outside: bool) -> MemoryFile:
    if file.size_bytes >= size_bytes:
        return file
    file.close()
    return MemoryFile(name, size_bytes, read_only_outside=read_only_outside)


def _without(
    stretches: Sequence[tuple[int, int]], places: Sequence[int], stride: int, kept: list[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """The stretches (start, length) less the slots at `places` (ascending), which go into `kept`."""
    for start, length in stretches:
        end = start + length
        for place in places:
            slot, behind = max(place * stride, start), min((place + 1) * stride, end)
            if slot < behind:
                yield start, slot - start
                kept.append((slot, behind - slot))
                start = behind
        yield start, end - start
