"""Packs a folder into an archive that the portal accepts, and judges it by the portal's own rules."""

from __future__ import annotations

import gzip
import io
import tarfile
from pathlib import Path

from kernel_eval.build.archive import ArchiveLimits, check_archive
from kernel_eval.errors import UsageError

_LEFT_OUT = frozenset({".git", "__pycache__", "build", ".venv", ".mypy_cache", ".ruff_cache", ".pytest_cache"})

_LIMITS = ArchiveLimits(max_archive_bytes=1 << 40)
"""How large an archive may be is the service's own setting, and its own to say."""


def packed(source: Path) -> tuple[str, bytes]:
    """Name and bytes of the archive: a folder is packed, an archive is read as it is.

    The same folder gives the same bytes. Raises `UsageError` (`ArchiveRefused`
    with all faults) before anything is sent.
    """
    try:
        name, data = _read(source)
    except OSError as error:
        raise UsageError(f"{error.filename or source}: cannot be read: {error.strerror or error}") from error
    check_archive(io.BytesIO(data), name, _LIMITS)
    return name, data


def _read(source: Path) -> tuple[str, bytes]:
    if source.is_dir():
        return f"{source.resolve().name}.tar.gz", _packed_folder(source)
    if source.is_file():
        return source.name, source.read_bytes()
    raise UsageError(f"{source}: no such folder or archive")


def _packed_folder(folder: Path) -> bytes:
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(folder.rglob("*")):
            inner = path.relative_to(folder)
            if path.is_file() and not path.is_symlink() and not _LEFT_OUT.intersection(inner.parts):
                _add(archive, path, inner)
    return gzip.compress(raw.getvalue(), mtime=0)


def _add(archive: tarfile.TarFile, path: Path, inner: Path) -> None:
    entry = tarfile.TarInfo(inner.as_posix())
    entry.size = path.stat().st_size
    entry.mode = 0o755 if path.stat().st_mode & 0o111 else 0o644
    with path.open("rb") as file:
        archive.addfile(entry, file)
