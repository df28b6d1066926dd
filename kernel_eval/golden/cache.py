"""Goldens on disk: bounded, checksummed, safe under several processes and sudden death.

A record is written beside its place and renamed into it, so a reader sees all of it
or nothing; whatever is torn or changed fails its checksum and counts as absent.
Records of hidden cases may lie here, so the folder and its files belong to their
owner alone.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import struct
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from kernel_eval.cases.operator_source import golden_source
from kernel_eval.golden.call import Golden, Outputs
from kernel_eval.model import ITEM_BYTES, Case, Operator, ResultSpec, Suite, TensorSpec

FORMAT = 1
MAGIC = b"hapgold1"
KEPT_SHARE = 0.8
"""After making room, this share of the allowed bytes is left in use."""
ABANDONED_AFTER_S = 3600.0
_HEAD = struct.Struct("<8s32sQ")


class GoldenCache:
    """Goldens keyed by all they depend on: suite, case, input seed, trial, golden source, PyTorch's version."""

    def __init__(self, folder: Path, max_bytes: int) -> None:
        """Use `folder`, created where missing, and keep it below about `max_bytes`."""
        self._folder = folder
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._used_bytes: int | None = None
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder.chmod(0o700)

    def get(self, suite: Suite, operator: Operator, case: Case, trial: int, variant: str = "") -> Golden | None:
        """The golden, or None where there is no sound record of it.

        `variant` tells apart what suite, case and trial do not, such as inputs that foreign code made.
        """
        path = self._path("golden", suite, operator, case, trial, variant)
        record = _read(path)
        if record is None:
            return None
        specs = tuple(_spec(entry) for entry in record[0]["results"])
        return Golden(_tensors(record[1], specs), specs)

    def put(self, suite: Suite, operator: Operator, case: Case, trial: int, golden: Golden, variant: str = "") -> None:
        """Keep a golden. A full or unwritable disk is no error: the cache then simply does not help."""
        self._write(self._path("golden", suite, operator, case, trial, variant), golden.results, golden.tensors)

    def get_same_precision(
        self, suite: Suite, operator: Operator, case: Case, trial: int, variant: str = ""
    ) -> Outputs | None:
        """The outputs of the golden's same-precision run, or None where there is no sound record."""
        record = _read(self._path("same precision", suite, operator, case, trial, variant))
        return None if record is None else _tensors(record[1], tuple(map(_spec, record[0]["results"])))

    def put_same_precision(
        self,
        suite: Suite,
        operator: Operator,
        case: Case,
        trial: int,
        outputs: Outputs,
        results: Sequence[ResultSpec],
        variant: str = "",
    ) -> None:
        """Keep the outputs of the same-precision run; `results` are the golden's."""
        self._write(self._path("same precision", suite, operator, case, trial, variant), results, outputs)

    def _path(self, kind: str, suite: Suite, operator: Operator, case: Case, trial: int, variant: str) -> Path:
        source = hashlib.sha256(golden_source(operator).encode("utf-8")).hexdigest()
        seed = hashlib.sha256(suite.seeds[case.split]).hexdigest()
        drawn = (case.shapes, case.dtypes, sorted(case.attributes.items()), case.value_ranges)
        parts = (FORMAT, kind, torch.__version__, suite.digest, case.key, repr(drawn), seed, trial, source, variant)
        key = hashlib.sha256(json.dumps(parts).encode("utf-8")).hexdigest()
        return self._folder / key[:2] / f"{key[2:]}.golden"

    def _write(self, path: Path, results: Sequence[ResultSpec], outputs: Outputs) -> None:
        payload = _payload(results, outputs)
        if len(payload) > self._max_bytes:
            return
        scratch = path.with_name(f"{secrets.token_hex(8)}.part")
        try:
            path.parent.mkdir(exist_ok=True, mode=0o700)
            with os.fdopen(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(_HEAD.pack(MAGIC, hashlib.sha256(payload).digest(), len(payload)))
                file.write(payload)
            os.replace(scratch, path)
        except OSError:
            scratch.unlink(missing_ok=True)
            return
        self._account(len(payload) + _HEAD.size)

    def _account(self, added_bytes: int) -> None:
        """Count what was written; make room where it is too much."""
        with self._lock:
            if self._used_bytes is None:
                self._used_bytes = sum(size for _, size, _ in self._records())
            else:
                self._used_bytes += added_bytes
            if self._used_bytes > self._max_bytes:
                self._used_bytes = self._make_room()

    def _make_room(self) -> int:
        """Remove the records that were longest unused; returns the bytes left. Other processes may do so too."""
        records = sorted(self._records())
        used = sum(size for _, size, _ in records)
        for _, size, path in records:
            if used <= self._max_bytes * KEPT_SHARE:
                break
            path.unlink(missing_ok=True)
            used -= size
        return used

    def _records(self) -> Iterator[tuple[float, int, Path]]:
        """(time of last use, bytes, path) of every record; abandoned scratch files are removed on the way."""
        for path in self._folder.glob("??/*"):
            with contextlib.suppress(OSError):
                status = path.stat()
                if path.suffix == ".part" and status.st_mtime < time.time() - ABANDONED_AFTER_S:
                    path.unlink()
                else:
                    yield status.st_mtime, status.st_size, path


def _payload(results: Sequence[ResultSpec], outputs: Outputs) -> bytes:
    """The specs as JSON, its length first, then all tensors' bytes."""
    described = {"results": [_described(result) for result in results]}
    head = json.dumps(described).encode("utf-8")
    bodies = [
        tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes() if tensor.numel() else b""
        for tensors in outputs
        for tensor in tensors
    ]
    return b"".join((struct.pack("<Q", len(head)), head, *bodies))


def _read(path: Path) -> tuple[dict[str, Any], memoryview] | None:
    """(description, bytes of the tensors) of a sound record. Marks the record as used."""
    try:
        data = path.read_bytes()
        os.utime(path)
    except OSError:
        return None
    payload = memoryview(data)[_HEAD.size :]
    if not _sound(data, payload):
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
        return None
    (head_length,) = struct.unpack_from("<Q", payload)
    return json.loads(bytes(payload[8 : 8 + head_length])), payload[8 + head_length :]


def _sound(data: bytes, payload: memoryview) -> bool:
    if len(data) < _HEAD.size:
        return False
    magic, checksum, length = _HEAD.unpack_from(data)
    return bool(magic == MAGIC and length == len(payload) and hashlib.sha256(payload).digest() == checksum)


def _described(result: ResultSpec) -> dict[str, Any]:
    tensors = [{"dtype": tensor.dtype, "shape": tensor.shape} for tensor in result.tensors]
    return {"name": result.name, "tensors": tensors, "tensor_list": result.tensor_list}


def _spec(entry: dict[str, Any]) -> ResultSpec:
    tensors = tuple(TensorSpec(tensor["dtype"], tuple(tensor["shape"])) for tensor in entry["tensors"])
    return ResultSpec(entry["name"], tensors, entry["tensor_list"])


def _tensors(body: memoryview, results: Sequence[ResultSpec]) -> Outputs:
    """Copies of the tensors in the record, aligned for their dtype."""
    offset = 0
    outputs = []
    for result in results:
        tensors = []
        for spec in result.tensors:
            tensor = torch.empty(spec.shape, dtype=getattr(torch, spec.dtype))
            size = spec.elements * ITEM_BYTES[spec.dtype]
            if size:
                chunk = torch.frombuffer(bytearray(body[offset : offset + size]), dtype=torch.uint8)
                tensor.view(-1).view(torch.uint8).copy_(chunk)
            tensors.append(tensor)
            offset += size
        outputs.append(tuple(tensors))
    return tuple(outputs)
