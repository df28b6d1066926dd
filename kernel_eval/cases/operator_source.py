"""Functions of an operator's `golden.py`, loaded by path: no `sys.modules` entry, no bytecode written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from kernel_eval.errors import GoldenFault

SOURCE_NAME = "golden.py"


def operator_source(folder: Path) -> str:
    """The text of an operator's golden; raises `GoldenFault` where it cannot be read."""
    try:
        return (folder / SOURCE_NAME).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise GoldenFault(f"{folder.name}/{SOURCE_NAME} cannot be read: {error}") from error


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
