"""Streaming decompression in bounded memory, metered while it goes."""

from __future__ import annotations

import lzma
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Protocol

from kernel_eval.build.archive.formats import MAGIC, Format
from kernel_eval.build.archive.rules import ArchiveLimits, Rule, UnreadableError, size_text

CHUNK_BYTES = 1 << 16
OUTPUT_BYTES = 1 << 18
"""What one step of decompression may yield, where the decoder can bound it."""
ZSTD_CHUNK_BYTES = 128
"""zstd's decoder can't bound its output; 128 bytes hold at most 32 blocks of 128 KiB, so 4 MiB."""
MAX_FRAMES = 20_000
"""Compressed parts put one behind the other, as parallel compressors do."""
MEMORY_LIMIT_BYTES = 1 << 27
"""What an xz dictionary or a zstd window may take."""


@dataclass
class Meter:
    """Counts unpacked bytes and stops at the limits."""

    limits: ArchiveLimits
    archive_bytes: int
    unpacked_bytes: int = 0

    def add(self, count: int) -> None:
        """Count `count` more bytes; raises `UnreadableError` once a limit is passed."""
        self.unpacked_bytes += count
        limit = self.limits.max_unpacked_bytes
        if self.unpacked_bytes > limit:
            raise UnreadableError(
                Rule.UNPACKED_TOO_LARGE, f"unpacks to more than {size_text(limit)}; leave out what isn't source"
            )
        if self.unpacked_bytes > max(self.limits.ratio_free_bytes, self.limits.max_ratio * self.archive_bytes):
            raise UnreadableError(
                Rule.RATIO,
                f"unpacks to more than {self.limits.max_ratio} times its {size_text(self.archive_bytes)}: "
                "taken for a decompression bomb",
            )


class Decoder(Protocol):
    """One compressed frame."""

    input_bytes: int

    def feed(self, data: bytes) -> bytes:
        """Decode `data`, or with b"" go on with what is pending; b"" out means more input is needed."""

    def finished(self) -> bool:
        """Whether the frame has ended."""

    def rest(self) -> bytes:
        """Input behind the end of the frame."""


class _Gzip:
    input_bytes = CHUNK_BYTES

    def __init__(self) -> None:
        self._decoder = zlib.decompressobj(wbits=31)

    def feed(self, data: bytes) -> bytes:
        return self._decoder.decompress(self._decoder.unconsumed_tail + data, OUTPUT_BYTES)

    def finished(self) -> bool:
        return self._decoder.eof

    def rest(self) -> bytes:
        return self._decoder.unused_data


class _Xz:
    input_bytes = CHUNK_BYTES

    def __init__(self) -> None:
        self._decoder = lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=MEMORY_LIMIT_BYTES)

    def feed(self, data: bytes) -> bytes:
        return self._decoder.decompress(data, OUTPUT_BYTES)

    def finished(self) -> bool:
        return self._decoder.eof

    def rest(self) -> bytes:
        return self._decoder.unused_data


class _Zstd:
    input_bytes = ZSTD_CHUNK_BYTES

    def __init__(self) -> None:
        import zstandard

        self._decoder = zstandard.ZstdDecompressor(max_window_size=MEMORY_LIMIT_BYTES).decompressobj()

    def feed(self, data: bytes) -> bytes:
        return self._decoder.decompress(data) if data else b""

    def finished(self) -> bool:
        return self._decoder.eof

    def rest(self) -> bytes:
        return self._decoder.unused_data


def _decoder(format_: Format) -> Decoder:
    if format_ is Format.TAR_GZ:
        return _Gzip()
    return _Xz() if format_ is Format.TAR_XZ else _Zstd()


def _decoder_errors() -> tuple[type[Exception], ...]:
    import zstandard

    return (zlib.error, lzma.LZMAError, EOFError, zstandard.ZstdError)


def decompressed(source: BinaryIO, format_: Format) -> Iterator[bytes]:
    """The tar stream inside `source`, in pieces of a few MiB at most.

    Raises `UnreadableError` for data that is damaged, cut short, or followed by something else.
    """
    if format_ is Format.TAR:
        yield from iter(lambda: source.read(CHUNK_BYTES), b"")
        return
    try:
        yield from _frames(source, format_)
    except _decoder_errors() as error:
        raise UnreadableError(
            Rule.DAMAGED, f"the compressed data is damaged ({error}); pack and upload it again"
        ) from error


class _Input:
    """The compressed bytes, with the possibility to put some back."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source
        self._back = b""

    def read(self, count: int) -> bytes:
        data = self._back[:count] if self._back else self._source.read(count)
        self._back = self._back[count:]
        return data

    def put_back(self, data: bytes) -> None:
        self._back = data + self._back

    def skip_zeros(self) -> bytes:
        """Skip padding; the next bytes that aren't zero stay to be read, and are given."""
        while data := self.read(CHUNK_BYTES):
            if data := data.lstrip(b"\0"):
                self.put_back(data)
                break
        return data


def _frames(source: BinaryIO, format_: Format) -> Iterator[bytes]:
    compressed = _Input(source)
    for _ in range(MAX_FRAMES):
        decoder = _decoder(format_)
        while not decoder.finished():
            data = compressed.read(decoder.input_bytes)
            if not data:
                raise UnreadableError(Rule.DAMAGED, "the compressed data is cut short; upload it again")
            yield from _fed(decoder, data)
        compressed.put_back(decoder.rest())
        following = compressed.skip_zeros()
        if not following:
            return
        if not following.startswith(MAGIC[format_]):
            raise UnreadableError(
                Rule.TRAILING_DATA, "something else follows the packed data; upload the archive alone"
            )
    raise UnreadableError(Rule.DAMAGED, f"more than {MAX_FRAMES} compressed parts; compress it in one go")


def _fed(decoder: Decoder, data: bytes) -> Iterator[bytes]:
    piece = decoder.feed(data)
    while piece:
        yield piece
        piece = b"" if decoder.finished() else decoder.feed(b"")
