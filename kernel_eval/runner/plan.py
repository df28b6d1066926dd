"""What a case's process is told: a JSON document from the judge, with nothing in it of golden, seed or case id."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Sequence
from typing import Any

from kernel_eval.errors import InternalError
from kernel_eval.model import CallSpec
from kernel_eval.runner.layout import PAGE_BYTES, Layout, Placed, Side, Window
from kernel_eval.runner.memory import SEALED_SIZE
from kernel_eval.runner.protocol import PLACE

PLAN_BYTES = 1 << 20
"""Room for the plan before its table: tens of thousands of calls. The file is sparse."""


def _tensors(group: tuple[Placed, ...]) -> list[list[Any]]:
    return [[placed.spec.dtype, list(placed.spec.shape), placed.offset, placed.spec.size_bytes] for placed in group]


def _arguments(call: CallSpec, side: Side) -> list[list[Any]]:
    pairs = zip(call.arguments, side.groups, strict=True)
    return [[argument.name, argument.tensor_list, _tensors(group)] for argument, group in pairs]


def _results(call: CallSpec, side: Side) -> list[list[Any]]:
    pairs = zip(call.results, side.groups, strict=True)
    return [[result.tensor_list, _tensors(group)] for result, group in pairs]


def _side(window: Window, side: Side, offset: int) -> dict[str, int]:
    return {"start": window.start, "offset": offset, "length": window.length, "stride": side.stride}


def plan_content(
    layout: Layout,
    order: Sequence[int],
    warmup: int,
    windows: tuple[Window, Window],
    output_offset: int,
    address_bytes: int,
) -> bytes:
    """The plan of one child: where its tensors lie, in which order to call, how much address space it has.

    `windows` are the stretches of input and output memory to map; `output_offset` is where the output
    window begins in the output file. Raises `ValueError` for a warm-up in a layout that has no buffer for it.
    """
    if warmup and not layout.warmup:
        raise ValueError("the pool was laid out without a buffer for the warm-up")
    call, (inputs, outputs) = layout.call, windows
    content = {
        "function": call.function,
        "arguments": _arguments(call, layout.inputs),
        "attributes": call.attributes,
        "results": _results(call, layout.outputs),
        "in_place": call.in_place,
        "init": call.init,
        "seed": call.seed,
        "inputs": _side(inputs, layout.inputs, inputs.start),
        "outputs": _side(outputs, layout.outputs, output_offset),
        "buffers": layout.buffers,
        "order": list(order),
        "warmup": warmup,
        "address_bytes": address_bytes,
        "table": {"offset": PLAN_BYTES, "length": table_bytes(layout, len(order))},
    }
    return json.dumps(content).encode()


def table_bytes(layout: Layout, calls: int) -> int:
    """Whole pages for one entry per result of a batch."""
    rows = max(len(layout.outputs.flat) * calls, 1)
    return -(-rows * PLACE.size // PAGE_BYTES) * PAGE_BYTES


class PlanFile:
    """An anonymous file with a plan and, behind it, the table that the child fills. Its size is sealed."""

    def __init__(self, content: bytes, table_length: int) -> None:
        if len(content) > PLAN_BYTES:
            raise InternalError(f"a plan of {len(content)} bytes; play fewer calls in one batch")
        self.descriptor = os.memfd_create("plan", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.descriptor, PLAN_BYTES + table_length)
        os.pwrite(self.descriptor, content, 0)
        fcntl.fcntl(self.descriptor, fcntl.F_ADD_SEALS, SEALED_SIZE)
        self.length = len(content)
        self._rows = table_length // PLACE.size

    def places(self, count: int) -> list[tuple[int, int, int]]:
        """The first `count` entries that a stopped child left; fewer where the table is shorter."""
        data = os.pread(self.descriptor, min(count, self._rows) * PLACE.size, PLAN_BYTES)
        return [(k, position, address) for k, position, address in PLACE.iter_unpack(data)]

    def close(self) -> None:
        """Give the descriptor back."""
        os.close(self.descriptor)
