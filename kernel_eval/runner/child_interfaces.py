"""Says what an imported package offers. Runs inside a box beside the package, so all of it is a claim."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import torch

from kernel_eval.runner.protocol import LISTING_BYTES

FOREIGN = frozenset({"torch", "numpy", *sys.stdlib_module_names})
MOST_CHARACTERS = 300


def listing(package: ModuleType) -> Callable[..., torch.Tensor]:
    """A function that returns the package's interfaces as text in a tensor of `LISTING_BYTES` bytes.

    A line per interface: place (`ops` or `module`), name, signature, separated by tabs. `wanted` names, separated by
    commas, are looked for in either place even where nothing lists them.
    """

    def interfaces(wanted: str) -> torch.Tensor:
        names = wanted.split(",")
        lines = [*_registered(package.__name__, names), *_exported(package, names)]
        data = bytearray("\n".join(lines).encode("utf-8", "replace")[:LISTING_BYTES].ljust(LISTING_BYTES, b"\0"))
        return torch.frombuffer(data, dtype=torch.uint8).clone()

    return interfaces


def _registered(namespace: str, wanted: list[str]) -> Iterator[str]:
    prefix = f"{namespace}::"
    registered = torch._C._dispatch_get_all_op_names()
    names = {name.removeprefix(prefix).partition(".")[0] for name in registered if name.startswith(prefix)}
    for name in (*sorted(names & set(wanted)), *sorted(names - set(wanted))):
        yield f"ops\t{name}\t{_schema(namespace, name)}"


def _schema(namespace: str, name: str) -> str:
    try:
        packet = getattr(getattr(torch.ops, namespace), name)
        schema = str(getattr(packet, packet.overloads()[0])._schema)
    except Exception:  # noqa: BLE001 -- the listing goes on without a signature
        return "(…)"
    return schema[schema.index("(") :][:MOST_CHARACTERS]


def _exported(package: ModuleType, wanted: list[str]) -> Iterator[str]:
    try:
        listed = [name for name in dir(package) if isinstance(name, str) and not name.startswith("_")]
    except Exception:  # noqa: BLE001 -- a package may define its own __dir__
        listed = []
    for name in dict.fromkeys((*wanted, *listed)):
        try:
            found = getattr(package, name, None)
            line = f"module\t{name}\t{_signature(found)}" if _is_interface(found, name in wanted) else ""
        except Exception:  # noqa: BLE001 -- foreign objects may refuse to be looked at
            continue
        if line:
            yield line


def _is_interface(found: Any, wanted: bool) -> bool:
    if not callable(found) or (inspect.isclass(found) and not issubclass(found, torch.nn.Module)):
        return False
    module = getattr(found, "__module__", None)
    return wanted or not isinstance(module, str) or module.partition(".")[0] not in FOREIGN


def _signature(found: Any) -> str:
    called: Any = getattr(found, "forward", found) if inspect.isclass(found) else found
    try:
        text = str(inspect.signature(called))
    except (TypeError, ValueError):
        return "(…)"
    return " ".join(text.split())[:MOST_CHARACTERS]
