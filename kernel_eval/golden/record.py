"""One record of the golden cache: a head, a description in JSON, the tensors' bytes, all under one checksum.

Tensors go to the file and come from it without a copy in between: a large golden would otherwise take several times
its memory.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import torch

from kernel_eval.model import ITEM_BYTES, ResultSpec, TensorSpec

MAGIC = b"hapgold1"
STEP_BYTES = 1 << 20
"""Bytes that are hashed and moved at a time: they stay in the cache from one to the other."""
_HEAD = struct.Struct("<8s32sQ")
_LENGTH = struct.Struct("<Q")
Outputs = tuple[tuple[torch.Tensor, ...], ...]


class Unsound(Exception):
    """The file holds no whole record."""


@dataclass(frozen=True)
class Record:
    """What a record says: results as declared, and their tensors."""

    results: tuple[ResultSpec, ...]
    tensors: Outputs


def record_bytes(results: Sequence[ResultSpec], outputs: Outputs) -> int:
    """Bytes of the record of these results."""
    return _HEAD.size + len(_description(results)) + sum(tensor.nbytes for tensors in outputs for tensor in tensors)


def write_record(path: Path, results: Sequence[ResultSpec], outputs: Outputs) -> None:
    """Write a new file that its owner alone may read. Raises `OSError`."""
    total, length = hashlib.sha256(), 0
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb", buffering=0) as file:
        file.seek(_HEAD.size)
        for part in _parts(results, outputs):
            total.update(part)
            _write_all(file, part)
            length += len(part)
        file.seek(0)
        _write_all(file, memoryview(_HEAD.pack(MAGIC, total.digest(), length)))


def read_record(path: Path) -> Record:
    """Read a file of `write_record`. Raises `OSError` where there is none, `Unsound` where it is torn or changed."""
    with path.open("rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        magic, checksum, length = _HEAD.unpack(_exactly(file, _HEAD.size, size))
        if magic != MAGIC or length != size - _HEAD.size:
            raise Unsound("head")
        prefix = _exactly(file, _LENGTH.size, length)
        described = _exactly(file, _LENGTH.unpack(prefix)[0], length)
        results = _results(described, length - len(prefix) - len(described))
        total = hashlib.sha256(prefix + described)
        tensors = tuple(tuple(_tensor(file, spec, total) for spec in result.tensors) for result in results)
    if total.digest() != checksum:
        raise Unsound("checksum")
    return Record(results, tensors)


def _description(results: Sequence[ResultSpec]) -> bytes:
    """The results as JSON, its length first."""
    head = json.dumps({"results": [_described(result) for result in results]}).encode("utf-8")
    return _LENGTH.pack(len(head)) + head


def _described(result: ResultSpec) -> dict[str, Any]:
    tensors = [{"dtype": tensor.dtype, "shape": tensor.shape} for tensor in result.tensors]
    return {"name": result.name, "tensors": tensors, "tensor_list": result.tensor_list}


def _parts(results: Sequence[ResultSpec], outputs: Outputs) -> Iterator[memoryview]:
    yield memoryview(_description(results))
    for tensors in outputs:
        for tensor in tensors:
            yield from _steps(tensor.contiguous())


def _steps(tensor: torch.Tensor) -> Iterator[memoryview]:
    """The memory of a contiguous tensor, piece by piece."""
    if tensor.numel():
        content = memoryview(tensor.reshape(-1).view(torch.uint8).numpy().data)
        for start in range(0, len(content), STEP_BYTES):
            yield content[start : start + STEP_BYTES]


def _write_all(file: IO[bytes], part: memoryview) -> None:
    while part:
        part = part[file.write(part) :]


def _exactly(file: IO[bytes], count: int, most: int) -> bytes:
    data = file.read(count) if 0 <= count <= most else b""
    if len(data) != count:
        raise Unsound("length")
    return data


def _results(described: bytes, left_bytes: int) -> tuple[ResultSpec, ...]:
    """The described results, whose tensors must fill the rest of the file: nothing is allocated for less."""
    try:
        results = tuple(_result(entry) for entry in json.loads(described)["results"])
        sizes = [spec.elements * ITEM_BYTES[spec.dtype] for result in results for spec in result.tensors]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Unsound("description") from error
    if min(sizes, default=0) < 0 or sum(sizes) != left_bytes:
        raise Unsound("sizes")
    return results


def _result(entry: dict[str, Any]) -> ResultSpec:
    tensors = tuple(TensorSpec(tensor["dtype"], _shape(tensor["shape"])) for tensor in entry["tensors"])
    return ResultSpec(entry["name"], tensors, entry["tensor_list"])


def _shape(sizes: list[Any]) -> tuple[int, ...]:
    if any(type(size) is not int or size < 0 for size in sizes):
        raise ValueError("a size is no whole number")
    return tuple(sizes)


def _tensor(file: IO[bytes], spec: TensorSpec, total: Any) -> torch.Tensor:
    """The next tensor of the file; its bytes are added to the checksum `total`."""
    tensor = torch.empty(spec.shape, dtype=getattr(torch, spec.dtype))
    for part in _steps(tensor):
        _read_all(file, part)
        total.update(part)
    return tensor


def _read_all(file: IO[bytes], part: memoryview) -> None:
    while part:
        count = file.readinto(part)  # type: ignore[attr-defined]
        if not count:
            raise Unsound("end of file")
        part = part[count:]
