"""Modules that load themselves at their first use."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType
from typing import Any


class _Later(ModuleType):
    """A module that is not loaded yet. Python asks a class's `__getattr__` only for what the module lacks.

    `importlib.util.LazyLoader` won't do: with it a second `import` of the same name loads the module.
    """

    def __getattr__(self, name: str) -> Any:
        spec = self.__spec__
        assert spec is not None
        assert spec.loader is not None
        self.__class__ = ModuleType  # type: ignore[assignment]
        if spec.submodule_search_locations is not None:
            self.__path__ = spec.submodule_search_locations
        spec.loader.exec_module(self)
        return getattr(self, name)


def load_later(name: str) -> None:
    """Let `import <name>` cost nothing until something of the module, or a module below it, is asked for.

    Loading torch takes seconds, and a box's first process loads it as well: so the judge opens the box first, and
    both load at the same time, on a core each. Nothing is done where the module is loaded already or does not exist.
    To be called before there are threads, two of which must not come to its first use at the same time.
    """
    spec = None if name in sys.modules else importlib.util.find_spec(name)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    module.__dict__.pop("__path__", None)
    module.__class__ = _Later
    sys.modules[name] = module
