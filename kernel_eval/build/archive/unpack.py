"""Judge an archive, and unpack it only once it has passed."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from kernel_eval.build.archive.formats import BLOCK_BYTES, SUFFIXES, Format, format_by_content, format_by_name
from kernel_eval.build.archive.layout import find_root, is_prebuilt
from kernel_eval.build.archive.member import Kind, Member
from kernel_eval.build.archive.rules import (
    DEFAULT_LIMITS,
    ArchiveLimits,
    Ledger,
    Rule,
    UnreadableError,
    size_text,
)
from kernel_eval.build.archive.stream import CHUNK_BYTES, Meter, decompressed
from kernel_eval.build.archive.tar import read_tar
from kernel_eval.build.archive.tree import Entry, Tree
from kernel_eval.build.archive.zip import read_zip
from kernel_eval.errors import UsageError

HEADERS_PER_ENTRY = 4
"""Tar headers per entry: pax, long name, long link, the entry's own."""
FILE_MODE = 0o644
EXECUTABLE_MODE = 0o755
FOLDER_MODE = 0o755


@dataclass(frozen=True)
class Unpacked:
    """An archive that passed every rule.

    `sha256` and `size_bytes` are those of the archive itself; `entries` are its
    files with paths below the submission's folder; `root` is the top-level
    folder that was stripped ("" where there was none); `prebuilt` says that it
    brings wheels in `dist/` and no `build.sh`.
    """

    sha256: str
    size_bytes: int
    format: str
    root: str
    entries: tuple[Entry, ...]
    unpacked_bytes: int
    prebuilt: bool


def check_archive(source: BinaryIO, filename: str, limits: ArchiveLimits = DEFAULT_LIMITS) -> Unpacked:
    """Judge `source`, an upload named `filename`, by every rule. Writes nothing to the file system.

    Raises `ArchiveRefused` with all faults. `source` is read from its beginning
    where it can seek, else from where it stands.
    """
    with _seekable(source, limits) as (file, sha256, size_bytes):
        return _judge(file, filename, limits, sha256, size_bytes)


def unpack(source: BinaryIO, filename: str, target: Path, limits: ArchiveLimits = DEFAULT_LIMITS) -> Unpacked:
    """Judge `source` by every rule, then write its files into `target`, an empty folder.

    Raises `ArchiveRefused` with all faults before anything is written, and
    `UsageError` where `target` isn't an empty folder. Whatever goes wrong, the
    folder is left empty.
    """
    if not target.is_dir() or any(target.iterdir()):
        raise UsageError(f"{target} must be an empty folder to unpack into")
    with _seekable(source, limits) as (file, sha256, size_bytes):
        unpacked = _judge(file, filename, limits, sha256, size_bytes)
        try:
            _write(file, unpacked, limits, target)
        except BaseException:
            _empty(target)
            raise
    return unpacked


def _judge(file: BinaryIO, filename: str, limits: ArchiveLimits, sha256: str, size_bytes: int) -> Unpacked:
    ledger = Ledger()
    format_ = _format(file, filename, size_bytes, ledger)
    tree, meter = Tree(limits, ledger), Meter(limits, size_bytes)
    try:
        for path, member in kept_members(file, format_, tree, meter):
            size = sum(len(piece) for piece in member.data)
            if member.kind is Kind.FILE:
                tree.add_file(path, size, member.mode)
        root = find_root(tree, ledger)
    except UnreadableError as error:
        ledger.add(error.rule, error.where, str(error))
    ledger.raise_if_any()
    entries = tuple(
        Entry(path.removeprefix(root), entry.size_bytes, entry.executable) for path, entry in tree.files.items()
    )
    return Unpacked(
        sha256,
        size_bytes,
        format_.value,
        root.rstrip("/"),
        entries,
        meter.unpacked_bytes,
        is_prebuilt(tree.files.keys(), root),
    )


def _format(file: BinaryIO, filename: str, size_bytes: int, ledger: Ledger) -> Format:
    """The content's format; raises at once where there is nothing that could be read."""
    claimed, found = format_by_name(filename), format_by_content(file.read(BLOCK_BYTES))
    file.seek(0)
    accepted = ", ".join(SUFFIXES)
    if claimed is None:
        ledger.add(Rule.UNKNOWN_FORMAT, filename, f"the file's name must end in one of {accepted}")
    if size_bytes == 0:
        ledger.add(Rule.EMPTY, filename, "the file is empty (0 bytes); upload it again")
        ledger.raise_if_any()
    if found is None:
        ledger.add(
            Rule.UNKNOWN_FORMAT, filename, "the content is no tar and no zip archive, packed in none of the known ways"
        )
        ledger.raise_if_any()
        raise AssertionError("unreachable: a fault was added")
    if claimed is not None and claimed is not found:
        ledger.add(Rule.FORMAT_MISMATCH, filename, f"the content is {found.value}; name it so")
    return found


def kept_members(file: BinaryIO, format_: Format, tree: Tree, meter: Meter) -> Iterator[tuple[str, Member]]:
    """The members to keep with their clean paths, in order; all others are judged and skipped."""
    limits = tree.limits
    file.seek(0)
    for member in _members(file, format_, meter):
        path = tree.judge(member)
        if tree.members > limits.max_entries:
            raise UnreadableError(
                Rule.TOO_MANY_ENTRIES, f"more than {limits.max_entries} entries; leave out what isn't source"
            )
        if path is not None:
            yield path, member
        for _ in member.data:
            pass


def _members(file: BinaryIO, format_: Format, meter: Meter) -> Iterator[Member]:
    limits = meter.limits
    if format_ is not Format.ZIP:
        return read_tar(_metered(decompressed(file, format_), meter), limits.max_entries * HEADERS_PER_ENTRY)
    members = read_zip(file, meter.archive_bytes, limits.max_entries)
    return (
        Member(member.raw_name, member.name, member.kind, member.mode, _metered(member.data, meter), member.problems)
        for member in members
    )


def _metered(pieces: Iterator[bytes], meter: Meter) -> Iterator[bytes]:
    for piece in pieces:
        meter.add(len(piece))
        yield piece


@contextmanager
def _seekable(source: BinaryIO, limits: ArchiveLimits) -> Iterator[tuple[BinaryIO, str, int]]:
    """The upload as a file that can seek, its SHA-256 and its size; an unnamed temporary one where needed."""
    digest, size_bytes = hashlib.sha256(), 0
    with tempfile.TemporaryFile() as spool:
        file = source if source.seekable() else spool
        if file is source:
            source.seek(0)
        while piece := source.read(CHUNK_BYTES):
            size_bytes += len(piece)
            _require_size(size_bytes, limits)
            digest.update(piece)
            if file is spool:
                spool.write(piece)
        file.seek(0)
        yield file, digest.hexdigest(), size_bytes


def _require_size(size_bytes: int, limits: ArchiveLimits) -> None:
    if size_bytes > limits.max_archive_bytes:
        ledger = Ledger()
        ledger.add(
            Rule.ARCHIVE_TOO_LARGE,
            "",
            f"larger than {size_text(limits.max_archive_bytes)}; leave out what isn't source",
        )
        ledger.raise_if_any()


def _write(file: BinaryIO, unpacked: Unpacked, limits: ArchiveLimits, target: Path) -> None:
    """Write what `_judge` accepted; the same rules are applied again while it is read."""
    ledger = Ledger()
    tree, meter = Tree(limits, ledger), Meter(limits, unpacked.size_bytes)
    prefix = f"{unpacked.root}/" if unpacked.root else ""
    for path, member in kept_members(file, Format(unpacked.format), tree, meter):
        ledger.raise_if_any()
        if member.kind is Kind.FILE:
            write_file(target / path.removeprefix(prefix), member)
            tree.add_file(path, 0, member.mode)
        elif path.startswith(prefix):
            (target / path.removeprefix(prefix)).mkdir(FOLDER_MODE, parents=True, exist_ok=True)
    ledger.raise_if_any()


def write_file(path: Path, member: Member) -> None:
    """Write a kept member to `path`, which must not exist yet."""
    path.parent.mkdir(FOLDER_MODE, parents=True, exist_ok=True)
    mode = EXECUTABLE_MODE if member.mode & 0o111 else FILE_MODE
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    with open(descriptor, "wb") as file:
        for piece in member.data:
            file.write(piece)


def _empty(target: Path) -> None:
    for child in target.iterdir():
        if child.is_dir():
            shutil.rmtree(child)
        else:
            child.unlink()
