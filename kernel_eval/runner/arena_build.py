"""Compiles the output arena, once per source, torch and compiler."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from importlib.metadata import version
from pathlib import Path

from kernel_eval.errors import InternalError

SOURCE = Path(__file__).with_name("arena.cpp")
FLAGS = ("-O2", "-std=c++20", "-fPIC", "-shared", "-fvisibility=hidden")
COMPILE_S = 300


def _compiler() -> str:
    for name in (os.environ.get("CXX"), "g++", "c++", "clang++"):
        if name and (found := shutil.which(name)):
            return found
    raise InternalError("no C++ compiler found for the judge's output arena; install g++ or set CXX")


def _compile(compiler: str, target: Path) -> None:
    import torch  # the library itself is made once; finding it needs no torch

    home = Path(torch.__file__).parent
    words = [compiler, *FLAGS, "-isystem", str(home / "include"), str(SOURCE), "-o", str(target)]
    words += ["-L" + str(home / "lib"), "-lc10"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=COMPILE_S, check=False)
    if done.returncode:
        raise InternalError(f"the judge's output arena does not compile: {done.stderr.strip()[-2000:]}")


def arena_library(cache_dir: Path) -> Path:
    """The compiled arena, from `cache_dir/arena` or made there in a few seconds. Raises `InternalError`.

    Safe under several processes: each compiles into its own file and renames it into place.
    """
    compiler = _compiler()
    key = hashlib.sha256()
    for part in (SOURCE.read_bytes(), version("torch").encode(), " ".join(FLAGS).encode(), compiler.encode()):
        key.update(len(part).to_bytes(8, "little") + part)
    folder = cache_dir / "arena"
    library = folder / f"arena-{key.hexdigest()[:32]}.so"
    if library.exists():
        return library
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as work:
        made = Path(work, "arena.so")
        _compile(compiler, made)
        made.chmod(0o755)
        made.replace(library)
    return library
