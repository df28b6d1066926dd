"""Input and output memory shared with children."""

from __future__ import annotations

import torch

from kernel_eval.model import CallSpec


class Pool:
    """Buffers of one case at a time, in memory files that are reused from case to case.

    `lay_out` gives `count` buffers, each with its own inputs and output slots, plus
    one warm-up buffer outside the count. The input views are writable at all times, so
    a timed case is filled after its children stand prepared and stopped: then no
    child has ever seen the values before its clock runs.
    """

    def __init__(self, capacity_bytes: int) -> None:
        raise NotImplementedError

    def lay_out(self, call: CallSpec, count: int) -> None:
        """Arrange `count` buffers and the warm-up buffer (zeroed) for calls of this shape."""
        raise NotImplementedError

    def inputs(self, index: int) -> list[torch.Tensor]:
        """Writable views of buffer `index`'s inputs, flat in argument order."""
        raise NotImplementedError

    def warmup_inputs(self) -> list[torch.Tensor]:
        """Writable views of the warm-up buffer's inputs; never part of an `order`."""
        raise NotImplementedError

    def outputs(self, index: int) -> list[list[torch.Tensor]]:
        """Views of buffer `index`'s results, one list per declared output. Read only after the child is dead."""
        raise NotImplementedError

    def poison(self) -> None:
        """Overwrite every output slot of the layout, so that an unwritten result is seen."""
        raise NotImplementedError

    def close(self) -> None:
        """Unmap and free the memory."""
        raise NotImplementedError
