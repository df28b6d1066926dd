"""The goldens of a suite as a wheel that is judged like any submission's.

Its package registers every golden as `torch.ops.cann_bench.<function>`. Nothing of a golden is executed here: the
package is text.
"""

from __future__ import annotations

import base64
import hashlib
import io
import os
import re
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from kernel_eval.cases.operator_source import operator_source
from kernel_eval.check import rounding
from kernel_eval.errors import UsageError
from kernel_eval.golden import inside
from kernel_eval.golden.foreign_package import foreign_submission
from kernel_eval.model import Operator, Suite

PACKAGE = "cann_bench"
DIST = "dist"
EPOCH = (1980, 1, 1, 0, 0, 0)
TAG = "py3-none-any"
_MAKING = '''"""The goldens of {suite} {version} as torch operators; suite digest {digest}."""

import torch

from {package} import {modules}
from {package}._inside import declared as _declared
from {package}._inside import register as _register

LIBRARY = torch.library.Library("{package}", "DEF")
'''


def build_golden_wheel(suite: Suite, out: Path) -> Path:
    """Write the wheel into `dist/` of `out`, which is a submission then; the same suite gives the same bytes.

    Raises `UsageError` where `out` cannot be written or holds another wheel, `GoldenFault` where a golden cannot be
    read.
    """
    version = f"{_release(suite.version)}+{suite.digest[:12]}"
    path = out / DIST / f"{PACKAGE}-{version}-{TAG}.whl"
    content = _wheel(golden_package(suite), version)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        others = sorted(str(found.relative_to(out)) for found in out.rglob("*.whl") if found != path)
        if others:
            raise UsageError(f"--out {out}: holds {', '.join(others)}; a submission has exactly one wheel, remove it")
        scratch = path.with_name(f".{path.name}.new")
        scratch.write_bytes(content)
        os.replace(scratch, path)
    except OSError as error:
        raise UsageError(f"--out {out}: cannot be written: {error.strerror or error}") from error
    return path


def golden_package(suite: Suite) -> dict[str, str]:
    """The package's files by their paths."""
    if any(operator.foreign is not None for operator in suite.operators):
        return foreign_submission(suite.operators, {op.function: torch_schema(op.schema) for op in suite.operators})
    modules = [f"_{operator.name}" for operator in suite.operators]
    head = _MAKING.format(
        suite=suite.name, version=suite.version, digest=suite.digest, package=PACKAGE, modules=", ".join(modules)
    )
    lines = [_registration(operator) for operator in suite.operators]
    files = {f"{PACKAGE}/__init__.py": head + "".join(lines), **runtime_files()}
    files |= {f"{PACKAGE}/_{operator.name}.py": operator_source(operator.folder) for operator in suite.operators}
    return files


def runtime_files() -> dict[str, str]:
    """Our own code that packages of goldens need."""
    text = _source(inside.__file__).replace("kernel_eval.check.rounding", f"{PACKAGE}._rounding")
    return {f"{PACKAGE}/_inside.py": text, f"{PACKAGE}/_rounding.py": _source(rounding.__file__)}


def torch_schema(schema: str) -> str:
    """A suite's schema in torch's spelling of it."""
    return re.sub(r"=\s*(true|false)\b", lambda found: f"={found[1].capitalize()}", schema)


def _registration(operator: Operator) -> str:
    outputs = tuple(spec.dtype + (inside.LIST_END if spec.tensor_list else "") for spec in operator.outputs)
    golden = f"_declared(_{operator.name}.golden, {outputs!r})"
    return f"_register(LIBRARY, {torch_schema(operator.schema)!r}, {golden})\n"


def _source(file: str | None) -> str:
    assert file is not None, "modules of this project lie in files"
    return Path(file).read_text(encoding="utf-8")


def _release(version: str) -> str:
    """The version as wheels may have it: numbers and dots."""
    found = re.match(r"\d+(\.\d+)*", version)
    return found[0] if found else "0"


def _wheel(files: Mapping[str, str], version: str) -> bytes:
    folder = f"{PACKAGE}-{version}.dist-info"
    members = {name: text.encode() for name, text in files.items()}
    members[f"{folder}/METADATA"] = f"Metadata-Version: 2.1\nName: {PACKAGE}\nVersion: {version}\n".encode()
    members[f"{folder}/WHEEL"] = f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {TAG}\n".encode()
    rows = [f"{name},sha256={_hash(data)},{len(data)}" for name, data in members.items()]
    members[f"{folder}/RECORD"] = "\n".join([*rows, f"{folder}/RECORD,,", ""]).encode()
    return _zipped(sorted(members.items()))


def _zipped(members: Sequence[tuple[str, bytes]]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return packed.getvalue()


def _hash(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
