"""Tensors in files: `.safetensors`, and `.npy` with one array after another. Nothing in them is executed."""

from __future__ import annotations

from pathlib import Path
from tokenize import TokenError
from typing import BinaryIO

import numpy as np
import torch

from kernel_eval.errors import UsageError

SUFFIXES = (".safetensors", ".npy")
DAMAGED = (ValueError, TypeError, EOFError, OverflowError, MemoryError, RecursionError, SyntaxError, TokenError)
"""What NumPy raises for a damaged array, whose header it reads as a Python literal."""


def read_tensors(path: Path) -> dict[str, torch.Tensor]:
    """All tensors of a file by name, sorted; those of `.npy` are called 0, 1, … in the file's order.

    Raises `UsageError`: no such file, another format, damaged content, a dtype that
    torch does not have, nothing inside.
    """
    if path.suffix not in SUFFIXES:
        raise UsageError(f"{path}: tensors are read from {' and '.join(SUFFIXES)} files")
    if not path.is_file():
        raise UsageError(f"{path}: there is no such file")
    try:
        found = _read_safetensors(path) if path.suffix == ".safetensors" else _read_npy(path)
    except OSError as fault:
        raise UsageError(f"{path}: {fault.strerror or fault}") from fault
    if not found:
        raise UsageError(f"{path}: there is no tensor in it")
    return found


def _read_safetensors(path: Path) -> dict[str, torch.Tensor]:
    from safetensors import SafetensorError
    from safetensors.torch import load

    try:
        found = load(path.read_bytes())
    except (SafetensorError, KeyError, ValueError, RuntimeError, TypeError) as fault:
        raise UsageError(f"{path}: not a readable safetensors file ({_line(fault)})") from fault
    return {name: found[name].contiguous() for name in sorted(found)}


def _read_npy(path: Path) -> dict[str, torch.Tensor]:
    found: dict[str, torch.Tensor] = {}
    size = path.stat().st_size
    with path.open("rb") as file:
        while file.tell() < size:
            found[str(len(found))] = _next_array(path, file)
    return found


def _next_array(path: Path, file: BinaryIO) -> torch.Tensor:
    try:
        array = np.lib.format.read_array(file, allow_pickle=False)
        return torch.from_numpy(np.array(array, dtype=array.dtype.newbyteorder("="), order="C"))
    except DAMAGED as fault:
        raise UsageError(f"{path}: not a readable .npy file ({_line(fault)})") from fault


def _line(fault: BaseException) -> str:
    return (str(fault).strip().splitlines() or [type(fault).__name__])[0][:200]
