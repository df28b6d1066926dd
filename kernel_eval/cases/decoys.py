"""Decoys: buffers of a pool that nobody checks and nobody can tell from the known ones.

A pool has up to a thousand of them, refilled for every case. They are cut out of
one reservoir of random numbers that is drawn once per evaluation: a process that
is timed has never seen it and meets no number of it twice. Repetition would tell
decoys from known inputs, whose values come nowhere else.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Sequence
from functools import cached_property

import torch

from kernel_eval.cases.distributions import INFINITE_SHARE, float_bounds, infinity, integer_bounds, mark_nan
from kernel_eval.cases.inputs import argument_specs, fill_decoys
from kernel_eval.cases.operator_source import operator_function
from kernel_eval.cases.streams import stream, words32
from kernel_eval.model import Case, Operator, RangeKind, ValueRange

RESERVOIR_ELEMENTS = (1 << 26) + (1 << 22)
"""Enough for a pool of 128 MiB of 16-bit inputs, with room to begin anywhere."""
CHUNK_ELEMENTS = 1 << 20
"""Elements per step: few enough for scratch memory to stay in the cache, enough to keep all cores busy."""
MOST_RUNS = 256
"""Stretches of rows up to which filling each by itself costs less than filling everything."""
WITHIN = 1 - 2.0**-21
"""Share of a range that is drawn from: rounding then leads nowhere beyond its ends, and needs no pass of its own."""
SIGN_BIT = 31
NARROW_SPAN = 1 << 20
"""Integers of at most so many values are drawn by way of a float32, in one step where they lie as near to 0; wider
ones from whole words."""


class DecoySource:
    """Fills decoys by columns: a column holds one input tensor of all decoys, shape (decoys, elements).

    The values follow the distributions of `fill_inputs`. Not thread-safe.
    """

    def __init__(self, elements: int = RESERVOIR_ELEMENTS) -> None:
        """The reservoir has `elements` numbers from −1 to 1, drawn when they are first needed."""
        self._elements = elements
        self._randomness = random.Random(os.urandom(32))
        self._scratch = torch.zeros(CHUNK_ELEMENTS, dtype=torch.float32)

    @cached_property
    def _unit(self) -> torch.Tensor:
        words = words32(stream(os.urandom(32), "decoys"), self._elements)
        return torch.from_numpy(words).to(torch.float32).mul_(2.0**-31)

    def fill(
        self, operator: Operator, case: Case, columns: Sequence[torch.Tensor], rows: Sequence[int] | None = None
    ) -> None:
        """Fill the columns of all input tensors, in argument order, lists flattened.

        Where `rows` (ascending) are given, only they need values; many small ones are not told from the others.
        Operators with structured inputs, and pools larger than the reservoir, get every decoy drawn
        like a known input.
        """
        specs = argument_specs(operator, case)
        rows = range(len(columns[0]) if columns else 0) if rows is None else rows
        structured = operator.foreign is None and operator_function(operator.folder, "constrain") is not None
        if structured or self._too_small(columns):
            shapes = [tensor.shape for spec in specs for tensor in spec.tensors]
            sets = [[column[row].view(shape) for column, shape in zip(columns, shapes, strict=True)] for row in rows]
            fill_decoys(operator, case, sets)
            return
        ranges = [values for spec, values in zip(specs, case.value_ranges, strict=True) for _ in spec.tensors]
        pairs = [pair for pair in zip(columns, ranges, strict=True) if pair[0].numel()]
        runs = _runs(rows)
        if len(runs) * len(pairs) <= MOST_RUNS:
            pairs = [(column[run], values) for column, values in pairs for run in runs]
        self._fill_columns(pairs)

    def _too_small(self, columns: Sequence[torch.Tensor]) -> bool:
        return sum(column.numel() for column in columns) > self._elements

    def _fill_columns(self, pairs: Sequence[tuple[torch.Tensor, ValueRange]]) -> None:
        """Each column gets a stretch of its own, one after another from a place that changes every time."""
        total = sum(column.numel() for column, _ in pairs)
        start = self._randomness.randrange(self._unit.numel() - total + 1)
        for column, values in pairs:
            unit = self._unit[start : start + column.numel()].view(column.shape)
            self._fill_column(column, unit, values)
            start += column.numel()

    def _fill_column(self, column: torch.Tensor, unit: torch.Tensor, values: ValueRange) -> None:
        if values.kind is RangeKind.ZERO:
            column.zero_()
            return
        overlay = self._signs(column) if values.kind is RangeKind.NAN else None
        _fill_rows(column, unit, overlay, values, self._scratch)
        _finish(column, values)

    def _signs(self, column: torch.Tensor) -> torch.Tensor:
        """Numbers whose signs say where NaN goes."""
        start = self._randomness.randrange(self._unit.numel() - column.numel() + 1)
        return self._unit[start : start + column.numel()].view(column.shape)


def _runs(rows: Sequence[int]) -> list[slice]:
    """Ascending numbers as stretches without a gap."""
    runs: list[slice] = []
    for row in rows:
        if runs and runs[-1].stop == row:
            runs[-1] = slice(runs[-1].start, row + 1)
        else:
            runs.append(slice(row, row + 1))
    return runs


def _fill_rows(
    column: torch.Tensor, unit: torch.Tensor, overlay: torch.Tensor | None, values: ValueRange, scratch: torch.Tensor
) -> None:
    """Fill a stretch of rows block by block; `overlay` below zero marks NaN."""
    floating = column.dtype.is_floating_point
    low, high = (float_bounds if floating else integer_bounds)(column.dtype, values)
    for rows, elements in _blocks(*column.shape):
        part, drawn = column[rows, elements], unit[rows, elements]
        if not floating:
            _integers(part, drawn, int(low), int(high), scratch)
            continue
        _floats(part, drawn, low, high, scratch)
        if overlay is not None:
            mark_nan(part, overlay[rows, elements].view(torch.int32).bitwise_right_shift(SIGN_BIT))


def _blocks(rows: int, elements: int) -> Iterator[tuple[slice, slice]]:
    """Blocks of at most `CHUNK_ELEMENTS` that cover (rows, elements)."""
    wide = min(elements, CHUNK_ELEMENTS)
    high = max(CHUNK_ELEMENTS // wide, 1)
    for top in range(0, rows, high):
        for left in range(0, elements, wide):
            yield slice(top, top + high), slice(left, left + wide)


def _floats(target: torch.Tensor, unit: torch.Tensor, low: float, high: float, scratch: torch.Tensor) -> None:
    half, centre = (high / 2 - low / 2) * WITHIN, low / 2 + high / 2
    direct = target.dtype == torch.float32
    drawn = target if direct else scratch[: target.numel()].view(target.shape)
    torch.add(torch.tensor(centre, dtype=torch.float32), unit, alpha=half, out=drawn)
    if not direct:
        target.copy_(drawn)


def _integers(target: torch.Tensor, unit: torch.Tensor, low: int, high: int, scratch: torch.Tensor) -> None:
    span = high - low + 1
    if low >= -NARROW_SPAN and high < NARROW_SPAN:
        drawn, middle = scratch[: target.numel()].view(target.shape), torch.tensor(low + span / 2, dtype=torch.float32)
        target.copy_(torch.add(middle, unit, alpha=span / 2 * WITHIN, out=drawn).floor_())
        return
    if span <= NARROW_SPAN:
        target.copy_(((unit + 1) * (span / 2)).floor_().clamp_(0, span - 1).to(torch.int64).add_(low))
        return
    words = torch.randint(-(1 << 63), (1 << 63) - 1, target.shape, dtype=torch.int64)
    target.copy_(words if span > 1 << 63 else words.remainder_(span).add_(low))


def _finish(column: torch.Tensor, values: ValueRange) -> None:
    """Infinities at both ends, or the dtype's extremes at a boundary, as `distributions.finish_tensor` sets them."""
    count = column.shape[1]
    if count < 2 or not column.dtype.is_floating_point:
        return
    if values.kind is RangeKind.INF:
        share = max(1, int(count * INFINITE_SHARE))
        column[:, :share] = -infinity(column.dtype)
        column[:, count - share :] = infinity(column.dtype)
    if values.kind is RangeKind.BOUNDARY:
        column[:, 0] = -torch.finfo(column.dtype).max
        column[:, count - 1] = torch.finfo(column.dtype).max
