"""A strict streaming tar reader: ustar, GNU long names, pax; nothing that could surprise.

The standard library's reader follows what an entry claims (sizes, sparse maps,
huge pax records) and keeps memory of it; this one reads in bounded memory.
Layout: POSIX.1-2008, pax, "ustar Interchange Format" and "pax Header Block".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kernel_eval.build.archive.formats import BLOCK_BYTES, header_sum
from kernel_eval.build.archive.member import Kind, Member
from kernel_eval.build.archive.rules import Rule, UnreadableError

MAX_EXTENSION_BYTES = 1 << 20
"""Long names and pax records of one entry; macOS attributes reach some 100 KiB."""
EXTENSION_TYPES = b"LKxgXN"
KINDS = {
    ord("0"): Kind.FILE,
    0: Kind.FILE,
    ord("7"): Kind.FILE,
    ord("1"): Kind.HARDLINK,
    ord("2"): Kind.SYMLINK,
    ord("3"): Kind.CHARACTER_DEVICE,
    ord("4"): Kind.BLOCK_DEVICE,
    ord("5"): Kind.FOLDER,
    ord("6"): Kind.FIFO,
}
BODILESS = frozenset({Kind.HARDLINK, Kind.SYMLINK, Kind.CHARACTER_DEVICE, Kind.BLOCK_DEVICE, Kind.FOLDER, Kind.FIFO})


class BlockReader:
    """Reads exact lengths from a stream of pieces."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._piece = b""
        self._start = 0
        self.offset = 0

    def some(self, count: int) -> bytes:
        """Up to `count` bytes, b"" at the end of the stream."""
        if self._start == len(self._piece):
            self._piece, self._start = next(self._pieces, b""), 0
        data = self._piece[self._start : self._start + count]
        self._start += len(data)
        self.offset += len(data)
        return data

    def exactly(self, count: int, what: str) -> bytes:
        """`count` bytes; raises `UnreadableError` where the stream ends before."""
        return b"".join(self.pieces(count, what))

    def pieces(self, count: int, what: str) -> Iterator[bytes]:
        """`count` bytes in pieces."""
        while count:
            data = self.some(count)
            if not data:
                raise UnreadableError(Rule.DAMAGED, f"the archive is cut short at byte {self.offset}, within {what}")
            count -= len(data)
            yield data


@dataclass
class _Extension:
    """What long-name and pax headers say about the next entry."""

    path: bytes | None = None
    size: int | None = None
    sparse: bool = False


def read_tar(pieces: Iterator[bytes], max_headers: int) -> Iterator[Member]:
    """The members of a tar stream, in order. Raises `UnreadableError` where it isn't one.

    `max_headers` bounds the headers read, those of long names and pax included.
    """
    reader = BlockReader(pieces)
    extension = _Extension()
    for _ in range(max_headers):
        block = _header(reader)
        if block is None:
            return _require_only_zeros(reader)
        size = _number(block[124:136], reader)
        if block[156] == ord("S"):
            # Its map may go on in further blocks, so nothing behind it could be read with certainty.
            raise UnreadableError(
                Rule.SPARSE, "sparse file; pack without --sparse", _ustar_name(block).decode("utf-8", "replace")
            )
        if block[156] in EXTENSION_TYPES:
            _extend(extension, block[156], _extension_body(reader, size))
            continue
        member, body = _member(block, size, extension, reader)
        yield member
        body.skip()
        extension = _Extension()
    raise UnreadableError(Rule.TOO_MANY_ENTRIES, f"more than {max_headers} tar headers; leave out what isn't source")


class _Body:
    """The content of the current entry and its padding."""

    def __init__(self, reader: BlockReader, size: int) -> None:
        self._reader = reader
        self._left = size
        self._padding = -size % BLOCK_BYTES

    def data(self) -> Iterator[bytes]:
        while self._left:
            for piece in self._reader.pieces(self._left, "a file"):
                self._left -= len(piece)
                yield piece

    def skip(self) -> None:
        for _ in self.data():
            pass
        self._reader.exactly(self._padding, "padding")


def _header(reader: BlockReader) -> bytes | None:
    block = reader.some(BLOCK_BYTES)
    if not block:
        raise UnreadableError(Rule.DAMAGED, f"cut short at byte {reader.offset}: the end mark is missing")
    block += reader.exactly(BLOCK_BYTES - len(block), "a header")
    if not any(block):
        return None
    stored = _number(block[148:156], reader)
    signed = stored - header_sum(block)
    # Some old writers summed signed bytes.
    if signed and -signed != 256 * sum(byte > 127 for byte in block[:148] + block[156:]):
        raise UnreadableError(Rule.DAMAGED, f"the tar header before byte {reader.offset} has a wrong checksum")
    return block


def _number(field_bytes: bytes, reader: BlockReader) -> int:
    if field_bytes[0] == 0x80:
        return int.from_bytes(field_bytes[1:], "big")
    digits = field_bytes.split(b"\0")[0].strip(b" ")
    if digits.strip(b"01234567"):
        raise UnreadableError(Rule.DAMAGED, f"the tar header before byte {reader.offset} holds a number that is none")
    return int(digits or b"0", 8)


def _extension_body(reader: BlockReader, size: int) -> bytes:
    if size > MAX_EXTENSION_BYTES:
        raise UnreadableError(
            Rule.DAMAGED, f"a tar header of {size} bytes before byte {reader.offset}; pack without attributes"
        )
    body = reader.exactly(size, "an extended header")
    reader.exactly(-size % BLOCK_BYTES, "padding")
    return body


def _extend(extension: _Extension, kind: int, body: bytes) -> None:
    if kind == ord("L"):
        extension.path = body.split(b"\0")[0]
    elif kind in b"xX":
        for key, value in _pax_records(body):
            if key == b"path":
                extension.path = value
            elif key == b"size":
                extension.size = _pax_size(value)
            elif key.startswith(b"GNU.sparse."):
                extension.sparse = True


def _pax_records(body: bytes) -> Iterator[tuple[bytes, bytes]]:
    position = 0
    while position < len(body) and body[position]:
        digits = body[position : position + 20].split(b" ")[0]
        length = int(digits) if digits.isdigit() else 0
        record = body[position + len(digits) + 1 : position + length]
        key, separator, value = record.partition(b"=")
        if not separator or not record.endswith(b"\n") or position + length > len(body):
            raise UnreadableError(Rule.DAMAGED, "an extended tar header is malformed")
        yield key, value[:-1]
        position += length


def _pax_size(value: bytes) -> int:
    if not value.isdigit() or len(value) > 20:
        raise UnreadableError(Rule.DAMAGED, "an extended tar header states a size that is none")
    return int(value)


def _member(block: bytes, size: int, extension: _Extension, reader: BlockReader) -> tuple[Member, _Body]:
    raw_name = extension.path if extension.path is not None else _ustar_name(block)
    kind = Kind.SPARSE if extension.sparse else KINDS.get(block[156], Kind.UNKNOWN)
    if kind is Kind.FILE and raw_name.endswith(b"/"):
        kind = Kind.FOLDER
    if extension.size is not None:
        size = extension.size
    body = _Body(reader, 0 if kind in BODILESS else size)
    return Member(raw_name, _decoded(raw_name), kind, _mode(block), body.data()), body


def _mode(block: bytes) -> int:
    digits = block[100:108].strip(b"\0 ")
    return int(digits, 8) if digits and not digits.strip(b"01234567") else 0


def _ustar_name(block: bytes) -> bytes:
    name = block[:100].split(b"\0")[0]
    prefix = block[345:500].split(b"\0")[0] if block[257:263] == b"ustar\0" else b""
    return prefix + b"/" + name if prefix else name


def _decoded(raw_name: bytes) -> str | None:
    try:
        return raw_name.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _require_only_zeros(reader: BlockReader) -> None:
    while data := reader.some(1 << 16):
        if data.strip(b"\0"):
            raise UnreadableError(
                Rule.TRAILING_DATA, "something else follows the end of the archive; upload the archive alone"
            )
