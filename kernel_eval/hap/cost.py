"""What a case costs whoever computes it: bytes that must move and vector operations that must run.

Bytes count every tensor once and touched elements only. Vector operations come
in two columns: `ops` is the calibrated count of the published model (with the
casts that a 16-bit type needs on 32-bit lanes), `hard_ops` the few that no
algorithm can do without. Limits for NPUs use the first, limits from measured
peaks the second.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from kernel_eval.errors import UsageError
from kernel_eval.model import ITEM_BYTES, Case, TensorSpec, tensor_shapes


class Lanes(StrEnum):
    """Width of the lanes a vector operation runs on, by its **compute** type."""

    B16 = "b16"
    B32 = "b32"
    B64 = "b64"


@dataclass(frozen=True)
class VectorWork:
    """`elements` times `ops` (and `casts`) operations on lanes of one width."""

    elements: int
    ops: float
    casts: float
    lanes: Lanes
    hard_ops: float

    @property
    def calibrated(self) -> float:
        """Lane operations of the published model."""
        return self.elements * (self.ops + self.casts)

    @property
    def hard(self) -> float:
        """Lane operations that no algorithm can do without."""
        return self.elements * self.hard_ops


@dataclass(frozen=True)
class Work:
    """All the work of one case."""

    reads: tuple[TensorSpec, ...]
    writes: tuple[TensorSpec, ...]
    vector: tuple[VectorWork, ...]

    @property
    def read_bytes(self) -> int:
        """Bytes that must be read."""
        return sum(tensor.size_bytes for tensor in self.reads)

    @property
    def write_bytes(self) -> int:
        """Bytes that must be written."""
        return sum(tensor.size_bytes for tensor in self.writes)


@dataclass(frozen=True)
class CostRecord:
    """One operator's cost: outputs and vector work of a case; all inputs are read once.

    `reason` says where the counts come from.
    """

    outputs: Callable[[Case], tuple[TensorSpec, ...]]
    vector: Callable[[Case], VectorWork]
    reason: str

    def work(self, case: Case) -> Work:
        """The work of `case`; raises `UsageError` where the case can't be one."""
        reads = tuple(tensor for index in range(len(case.shapes)) for tensor in inputs(case, index))
        return Work(reads, self.outputs(case), (self.vector(case),))


def inputs(case: Case, index: int) -> tuple[TensorSpec, ...]:
    """The tensors of the case's input number `index`: none, one, or a list's.

    Raises `UsageError` for an unknown dtype or a negative size.
    """
    dtype = case.dtypes[index]
    if dtype not in ITEM_BYTES:
        known = ", ".join(ITEM_BYTES)
        raise UsageError(f"{case.key}: input {index} has the unknown dtype {dtype!r}; known are {known}")
    shapes = tensor_shapes(case.shapes[index])
    if any(size < 0 for shape in shapes for size in shape):
        raise UsageError(f"{case.key}: input {index} has a negative size in {list(shapes)}; sizes count from 0")
    return tuple(TensorSpec(dtype, shape) for shape in shapes)


def required(case: Case, index: int) -> tuple[TensorSpec, ...]:
    """Like `inputs`, for an input that the operator can't do without."""
    tensors = inputs(case, index) if index < len(case.shapes) else ()
    if not tensors:
        raise UsageError(f"{case.key}: input {index} is missing, so the case has no cost")
    return tensors


def elements_of(tensors: tuple[TensorSpec, ...]) -> int:
    """Elements over all tensors."""
    return sum(tensor.elements for tensor in tensors)


def lanes_of(dtype: str, *, promoted: bool = False) -> Lanes:
    """Lanes on which `dtype` computes: bfloat16 always on 32 bits, float16 there where the operator promotes."""
    width = ITEM_BYTES[dtype]
    if width == 8:
        return Lanes.B64
    if width <= 2 and dtype != "bfloat16" and not promoted:
        return Lanes.B16
    return Lanes.B32


def widened(dtype: str, lanes: Lanes) -> bool:
    """Whether elements of `dtype` must be cast to compute on `lanes`."""
    return ITEM_BYTES[dtype] == 2 and lanes is Lanes.B32
