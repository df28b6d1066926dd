"""A submission of bare modules: Python files with a class `ModelNew`, which need no build. Nothing is executed."""

from __future__ import annotations

import re
import stat
from pathlib import Path

from kernel_eval.model import identifier_of

CLASS = "ModelNew"
_DEFINED = re.compile(rb"^class ModelNew\b", re.MULTILINE)
LARGEST_BYTES, MOST_FILES = 1 << 20, 1000
_INIT = '''"""Modules of a submission, imported when they are asked for."""

import importlib

FILES = {files!r}


def __getattr__(name):
    if name not in FILES:
        raise AttributeError(name)
    return importlib.import_module("cann_bench." + FILES[name]).{name}


def __dir__():
    return sorted(FILES)
'''.replace(".{name}\n", "." + CLASS + "\n")


def module_package(source: Path) -> dict[str, bytes]:
    """The files of a package `cann_bench` for the modules right inside `source`; empty where there are none.

    A file's module is exported under the file's name as an identifier, a sole one also as `ModelNew`.
    """
    found = {}
    for path in sorted(source.glob("*.py"))[:MOST_FILES]:
        status = path.lstat()
        if stat.S_ISREG(status.st_mode) and status.st_size <= LARGEST_BYTES:
            content = path.read_bytes()
            if _DEFINED.search(content):
                found[identifier_of(path.stem)] = content
    if not found:
        return {}
    files = {name: f"module_{name}" for name in found}
    if len(files) == 1:
        files[CLASS] = next(iter(files.values()))
    package = {f"cann_bench/module_{name}.py": content for name, content in found.items()}
    return {"cann_bench/__init__.py": _INIT.format(files=files).encode(), **package}
