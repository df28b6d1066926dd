"""Which format an upload is, by name and by content, and streaming decompression with bounds."""

from __future__ import annotations

from enum import StrEnum

BLOCK_BYTES = 512
"""A tar block, and what is needed of an upload to know its format."""


class Format(StrEnum):
    """The accepted formats, by their usual suffix."""

    TAR = ".tar"
    TAR_GZ = ".tar.gz"
    TAR_XZ = ".tar.xz"
    TAR_ZST = ".tar.zst"
    ZIP = ".zip"


SUFFIXES = {
    **{format_.value: format_ for format_ in Format},
    ".tgz": Format.TAR_GZ,
    ".txz": Format.TAR_XZ,
    ".tzst": Format.TAR_ZST,
}
MAGIC = {
    Format.TAR_GZ: b"\x1f\x8b",
    Format.TAR_XZ: b"\xfd7zXZ\x00",
    Format.TAR_ZST: b"\x28\xb5\x2f\xfd",
    Format.ZIP: b"PK\x03\x04",
}
EMPTY_ZIP = b"PK\x05\x06"
TAR_MAGIC_OFFSET = 257


def format_by_name(filename: str) -> Format | None:
    """The format that the file's name claims, if any."""
    lowered = filename.lower()
    return next((format_ for suffix, format_ in SUFFIXES.items() if lowered.endswith(suffix)), None)


def format_by_content(head: bytes) -> Format | None:
    """The format of which `head`, the first 512 bytes, is the beginning."""
    for format_, magic in MAGIC.items():
        if head.startswith(magic):
            return format_
    if head.startswith(EMPTY_ZIP):
        return Format.ZIP
    return Format.TAR if _looks_like_tar(head) else None


def _looks_like_tar(head: bytes) -> bool:
    if head[TAR_MAGIC_OFFSET : TAR_MAGIC_OFFSET + 5] == b"ustar":
        return True
    if len(head) < BLOCK_BYTES:
        return False
    # The oldest tar has no magic but a checksum; an archive of no files is all zero.
    field = head[148:156].strip(b"\0 ")
    if not field:
        return not any(head)
    return not field.strip(b"01234567") and int(field, 8) == header_sum(head)


def header_sum(block: bytes) -> int:
    """A tar header's checksum: the sum of its bytes, its own field counted as spaces."""
    return sum(block[:148]) + 8 * 32 + sum(block[156:BLOCK_BYTES])
