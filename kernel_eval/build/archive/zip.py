"""A guarded zip reader: looks at the directory's size before the standard library reads it."""

from __future__ import annotations

import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import BinaryIO

from kernel_eval.build.archive.member import Kind, Member
from kernel_eval.build.archive.rules import Rule, UnreadableError
from kernel_eval.build.archive.stream import CHUNK_BYTES

END_RECORD = struct.Struct("<4s4H2LH")
END_MAGIC = b"PK\x05\x06"
LOCATOR_MAGIC = b"PK\x06\x07"
LOCATOR_BYTES = 20
MAX_COMMENT_BYTES = 65_535
DIRECTORY_ENTRY_BYTES = 512
"""Generous for one directory entry: 46 bytes, a name, times and owners."""
UNIX_SYSTEM = 3
DARWIN_SYSTEM = 19
FLAG_ENCRYPTED = 0x1
FLAG_UTF8 = 0x800
METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
UNIX_KINDS = {
    stat.S_IFREG: Kind.FILE,
    stat.S_IFDIR: Kind.FOLDER,
    stat.S_IFLNK: Kind.SYMLINK,
    stat.S_IFCHR: Kind.CHARACTER_DEVICE,
    stat.S_IFBLK: Kind.BLOCK_DEVICE,
    stat.S_IFIFO: Kind.FIFO,
    stat.S_IFSOCK: Kind.SOCKET,
}
DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, ValueError, OSError)
"""What the standard library raises for archives that are no proper zip."""


def read_zip(source: BinaryIO, size_bytes: int, max_entries: int) -> Iterator[Member]:
    """The members of a zip file, in the directory's order. Raises `UnreadableError` where it isn't one."""
    _check_directory(source, size_bytes, max_entries)
    try:
        archive = zipfile.ZipFile(source)
    except DAMAGE as error:
        raise UnreadableError(
            Rule.DAMAGED, f"the zip directory can't be read ({error}); pack and upload it again"
        ) from error
    with archive:
        for record in archive.infolist():
            yield _member(archive, record)


def _check_directory(source: BinaryIO, size_bytes: int, max_entries: int) -> None:
    tail_bytes = min(size_bytes, END_RECORD.size + MAX_COMMENT_BYTES + LOCATOR_BYTES)
    source.seek(size_bytes - tail_bytes)
    tail = source.read(tail_bytes)
    start = tail.rfind(END_MAGIC)
    if start < 0 or start + END_RECORD.size > len(tail):
        raise UnreadableError(
            Rule.DAMAGED, "the zip is cut short: the directory at its end is missing; upload it again"
        )
    if tail[max(0, start - LOCATOR_BYTES) :].startswith(LOCATOR_MAGIC):
        raise UnreadableError(Rule.UNSUPPORTED_ZIP, "zip64 isn't accepted; pack fewer and smaller files")
    _, disk, first_disk, _, entries, directory_bytes, _, comment_bytes = END_RECORD.unpack_from(tail, start)
    if disk or first_disk:
        raise UnreadableError(Rule.UNSUPPORTED_ZIP, "zip in several parts; pack it as one file")
    if entries > max_entries or directory_bytes > max_entries * DIRECTORY_ENTRY_BYTES:
        raise UnreadableError(Rule.TOO_MANY_ENTRIES, f"more than {max_entries} entries; leave out what isn't source")
    if start + END_RECORD.size + comment_bytes != len(tail):
        raise UnreadableError(Rule.TRAILING_DATA, "something else follows the end of the zip; upload the archive alone")


def _member(archive: zipfile.ZipFile, record: zipfile.ZipInfo) -> Member:
    raw_name, name = _names(record)
    problems = tuple(_problems(record))
    data = iter(()) if problems or record.is_dir() else _data(archive, record)
    return Member(raw_name, name, _kind(record), stat.S_IMODE(record.external_attr >> 16), data, problems)


def _names(record: zipfile.ZipInfo) -> tuple[bytes, str | None]:
    name = record.orig_filename
    if record.flag_bits & FLAG_UTF8:
        return name.encode("utf-8", "replace"), name
    # Without the flag the library reads names as code page 437; many writers put UTF-8 there all the same.
    raw_name = name.encode("cp437", "replace")
    try:
        return raw_name, raw_name.decode("utf-8")
    except UnicodeDecodeError:
        return raw_name, None


def _problems(record: zipfile.ZipInfo) -> Iterator[tuple[str, str]]:
    if record.flag_bits & FLAG_ENCRYPTED:
        yield Rule.ENCRYPTED, "encrypted; pack without a password"
    if record.compress_type not in METHODS:
        yield Rule.UNSUPPORTED_ZIP, f"compression method {record.compress_type}; pack with deflate, zip's default"


def _kind(record: zipfile.ZipInfo) -> Kind:
    if record.create_system in (UNIX_SYSTEM, DARWIN_SYSTEM) and (kind := stat.S_IFMT(record.external_attr >> 16)):
        found = UNIX_KINDS.get(kind, Kind.UNKNOWN)
        return Kind.FOLDER if found is Kind.FILE and record.is_dir() else found
    return Kind.FOLDER if record.is_dir() else Kind.FILE


def _data(archive: zipfile.ZipFile, record: zipfile.ZipInfo) -> Iterator[bytes]:
    left = record.file_size
    try:
        with archive.open(record) as content:
            while piece := content.read(CHUNK_BYTES):
                left -= len(piece)
                yield piece
    except DAMAGE as error:
        raise _damaged(record, str(error)) from error
    if left:
        raise _damaged(record, f"holds {record.file_size - left} bytes where it claims {record.file_size}")


def _damaged(record: zipfile.ZipInfo, reason: str) -> UnreadableError:
    return UnreadableError(Rule.DAMAGED, f"damaged ({reason}); pack and upload it again", record.filename)
