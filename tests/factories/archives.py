"""Archives of every kind, good ones and damaged ones, packed in memory."""

from __future__ import annotations

import gzip
import io
import struct
import tarfile
import warnings
import zipfile
from collections.abc import Mapping

import zstandard


def tar_info(name: str, **fields: object) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.mode = 0o644
    for field, value in fields.items():
        setattr(member, field, value)
    return member


def tar(
    files: Mapping[str, bytes], *members: tarfile.TarInfo, layout: int = tarfile.PAX_FORMAT, encoding: str = "utf-8"
) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=layout, encoding=encoding) as archive:
        for name, data in files.items():
            archive.addfile(tar_info(name, size=len(data)), io.BytesIO(data))
        for member in members:
            archive.addfile(member, io.BytesIO(bytes(member.size)) if member.isreg() else None)
    return stream.getvalue()


def tar_gz(files: Mapping[str, bytes]) -> bytes:
    """A .tar.gz of these files, the same bytes each time."""
    return gzip.compress(tar(files), mtime=0)


def zip_(files: dict[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for name, data in files.items():
            archive.writestr(name, data)
    return stream.getvalue()


def unix_zip_entry(name: str, mode: int) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name)
    entry.create_system = 3
    entry.external_attr = mode << 16
    return entry


def raw_header(name: bytes, size: bytes, kind: bytes = b"0") -> bytes:
    block = bytearray(512)
    block[: len(name)] = name
    block[100:108] = b"0000644\0"
    block[124:136] = size.ljust(12, b"\0")
    block[156:157] = kind
    block[257:265] = b"ustar\x0000"
    block[148:156] = b"%06o\0 " % (sum(block) + 8 * 32)
    return bytes(block)


def zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


def marked_encrypted(data: bytes) -> bytes:
    """Set the encryption bit of every entry, in the local headers and in the directory."""
    changed = bytearray(data)
    for magic, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        position = changed.find(magic)
        while position >= 0:
            changed[position + offset] |= 1
            position = changed.find(magic, position + 1)
    return bytes(changed)


def lying_zip(data: bytes, claimed: int) -> bytes:
    """State another unpacked size in the directory than the data has."""
    changed = bytearray(data)
    struct.pack_into("<L", changed, changed.find(b"PK\x01\x02") + 24, claimed)
    return bytes(changed)
