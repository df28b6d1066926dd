"""The same-precision run, pinned: one thread, no optional CPU instructions, so that verdicts depend on no host.

PyTorch reads these settings once per process, hence a process of our own, started
when it is first needed and kept.
"""

from __future__ import annotations

import os
import pickle
import struct
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import torch

from kernel_eval.errors import GoldenFault, InternalError
from kernel_eval.golden.call import Outputs, same_precision
from kernel_eval.model import Case, Operator

PINNED = {"ATEN_CPU_CAPABILITY": "default", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "MKL_CBWR": "COMPATIBLE"}
_LENGTH = struct.Struct("<Q")


class NativeRunner:
    """Runs goldens in the candidate's precision in a pinned process; a context manager, safe from several threads."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def __enter__(self) -> NativeRunner:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def run(self, operator: Operator, case: Case, inputs: Sequence[torch.Tensor]) -> Outputs:
        """The golden's outputs for flat native `inputs`, in the declared dtypes. Raises `GoldenFault`."""
        request = (operator, case, [_packed(tensor) for tensor in inputs])
        with self._lock:
            try:
                outputs, fault = self._exchange(request)
            except (OSError, EOFError) as error:
                self._stop()
                raise InternalError(f"{case.key}: the same-precision process ended: {error}") from error
        if fault:
            raise GoldenFault(fault)
        return tuple(tuple(_unpacked(tensor) for tensor in tensors) for tensors in outputs)

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._stop()

    def _exchange(self, request: object) -> tuple[Any, str]:
        process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        _send(process.stdin, request)
        outputs, fault = _receive(process.stdout)
        return outputs, fault

    def _start(self) -> subprocess.Popen[bytes]:
        root = Path(__file__).resolve().parents[2]
        environment = {**os.environ, **PINNED, "PYTHONPATH": str(root)}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "kernel_eval.golden.native"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )
        return self._process

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()


def serve(requests: IO[bytes], answers: IO[bytes]) -> None:
    """Answer requests of `NativeRunner` until there are no more."""
    torch.set_num_threads(1)
    while True:
        try:
            operator, case, tensors = _receive(requests)
        except EOFError:
            return
        try:
            outputs = same_precision(operator, case, [_unpacked(tensor) for tensor in tensors])
        except GoldenFault as fault:
            _send(answers, ((), str(fault)))
            continue
        _send(answers, ([[_packed(tensor) for tensor in tensors] for tensors in outputs], ""))


def _packed(tensor: torch.Tensor) -> tuple[str, tuple[int, ...], bytes]:
    data = tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes() if tensor.numel() else b""
    return str(tensor.dtype).removeprefix("torch."), tuple(tensor.shape), data


def _unpacked(packed: tuple[str, tuple[int, ...], bytes]) -> torch.Tensor:
    dtype, shape, data = packed
    tensor = torch.empty(shape, dtype=getattr(torch, dtype))
    if data:
        tensor.view(-1).view(torch.uint8).copy_(torch.frombuffer(bytearray(data), dtype=torch.uint8))
    return tensor


def _send(pipe: IO[bytes], message: object) -> None:
    """Both ends are this program, so pickle is safe here."""
    data = pickle.dumps(message, protocol=5)
    pipe.write(_LENGTH.pack(len(data)))
    pipe.write(data)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> Any:
    (length,) = _LENGTH.unpack(_exactly(pipe, _LENGTH.size))
    return pickle.loads(_exactly(pipe, length))


def _exactly(pipe: IO[bytes], count: int) -> bytes:
    data = pipe.read(count)
    if len(data) != count:
        raise EOFError("the other end closed the pipe")
    return data


if __name__ == "__main__":
    serve(sys.stdin.buffer, os.fdopen(os.dup(1), "wb"))
