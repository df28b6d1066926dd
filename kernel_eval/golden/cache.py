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
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch

from kernel_eval.cases.operator_source import golden_source
from kernel_eval.golden.call import Golden, Outputs
from kernel_eval.golden.record import Record, Unsound, read_record, record_bytes, write_record
from kernel_eval.model import Case, Operator, ResultSpec, Suite

FORMAT = 1
KEPT_SHARE = 0.8
"""After making room, this share of the allowed bytes is left in use."""
ABANDONED_AFTER_S = 3600.0


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
        record = _read(self._path("golden", suite, operator, case, trial, variant))
        return None if record is None else Golden(record.tensors, record.results)

    def put(self, suite: Suite, operator: Operator, case: Case, trial: int, golden: Golden, variant: str = "") -> None:
        """Keep a golden. A full or unwritable disk is no error: the cache then simply does not help."""
        self._write(self._path("golden", suite, operator, case, trial, variant), golden.results, golden.tensors)

    def get_same_precision(
        self, suite: Suite, operator: Operator, case: Case, trial: int, variant: str = ""
    ) -> Outputs | None:
        """The outputs of the golden's same-precision run, or None where there is no sound record."""
        record = _read(self._path("same precision", suite, operator, case, trial, variant))
        return None if record is None else record.tensors

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
        size = record_bytes(results, outputs)
        if size > self._max_bytes:
            return
        scratch = path.with_name(f"{secrets.token_hex(8)}.part")
        try:
            path.parent.mkdir(exist_ok=True, mode=0o700)
            write_record(scratch, results, outputs)
            os.replace(scratch, path)
        except OSError:
            scratch.unlink(missing_ok=True)
            return
        self._account(size)

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


def _read(path: Path) -> Record | None:
    """The record, marked as used; None where there is none. What is unsound is removed."""
    try:
        record = read_record(path)
        os.utime(path)
    except OSError:
        return None
    except Unsound:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
        return None
    return record
