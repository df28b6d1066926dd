"""Functions of an operator's `golden.py`, loaded by path: no `sys.modules` entry, no bytecode written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from kernel_eval.errors import GoldenFault
from kernel_eval.model import Operator

SOURCE_NAME = "golden.py"
FOREIGN_NAME = "foreign.py"
"""An untrusted golden goes by another name, so that nothing here ever executes it."""


def operator_source(folder: Path) -> str:
    """The text of an operator's golden; raises `GoldenFault` where it cannot be read."""
    return _text(folder, SOURCE_NAME)


def golden_source(operator: Operator) -> str:
    """The text of an operator's golden, ours or a foreign one; raises `GoldenFault` where it cannot be read."""
    return _text(operator.folder, SOURCE_NAME if operator.foreign is None else FOREIGN_NAME)


def _text(folder: Path, name: str) -> str:
    try:
        return (folder / name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise GoldenFault(f"{folder.name}/{name} cannot be read: {error}") from error


def operator_function(folder: Path, name: str) -> Callable[..., Any] | None:
    """The function `name` of an operator's golden, or None where it has none.

    Raises `GoldenFault` where the file cannot be read or executed.
    """
    found = _namespace(operator_source(folder), str(folder / SOURCE_NAME)).get(name)
    return found if callable(found) else None


@lru_cache(maxsize=256)
def _namespace(source: str, path: str) -> Mapping[str, Any]:
    """What executing the source defines; the same source is executed once."""
    namespace: dict[str, Any] = {"__name__": f"golden_of_{Path(path).parent.name}", "__file__": path}
    try:
        exec(compile(source, path, "exec", dont_inherit=True), namespace)
    except Exception as error:
        raise GoldenFault(f"{path} cannot be executed: {type(error).__name__}: {error}") from error
    return MappingProxyType(namespace)
