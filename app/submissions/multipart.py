"""Reads a multipart form while it arrives: fields into memory, the file to a sink, both bounded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from app.submissions.errors import NotMultipart, UploadBroken
from kernel_eval.errors import Fault

FILE_FIELD = "file"
MAX_FIELDS = 24
MAX_FIELD_BYTES = 16 * 1024
MAX_HEADER_BYTES = 4 * 1024


@dataclass
class _Part:
    """The part that is arriving: its header so far, then its name and, for a file, its file name."""

    header_name: bytearray = field(default_factory=bytearray)
    header_value: bytearray = field(default_factory=bytearray)
    disposition: bytes = b""
    name: str = ""
    filename: str | None = None
    value: bytearray = field(default_factory=bytearray)


@dataclass
class FormReader:
    """Feed it the body with `write`, then call `finish`.

    `fields` has the text fields, `filename` that of the file (None: no file came),
    `faults` what is wrong with them. Raises `UploadBroken` for a malformed body;
    whatever `sink` raises goes through.
    """

    boundary: bytes
    sink: Callable[[bytes], None]
    fields: dict[str, str] = field(default_factory=dict)
    filename: str | None = None
    faults: list[Fault] = field(default_factory=list)
    _part: _Part = field(default_factory=_Part)
    _parts: int = 0
    _ended: bool = False

    def __post_init__(self) -> None:
        self._parser = MultipartParser(
            self.boundary,
            {
                "on_part_begin": self._on_part_begin,
                "on_header_field": self._on_header_field,
                "on_header_value": self._on_header_value,
                "on_header_end": self._on_header_end,
                "on_headers_finished": self._on_headers_finished,
                "on_part_data": self._on_part_data,
                "on_part_end": self._on_part_end,
                "on_end": self._on_end,
            },
        )

    def write(self, data: bytes) -> None:
        """The next bytes of the body."""
        try:
            self._parser.write(data)
        except FormParserError as error:
            raise UploadBroken(f"The form is malformed: {error}. Upload it again.") from error

    def finish(self) -> None:
        """The body has ended; raises `UploadBroken` where the form has not."""
        if not self._ended:
            raise UploadBroken("The upload ended before the form did. Upload it again.")

    def _on_part_begin(self) -> None:
        self._part = _Part()
        self._parts += 1
        if self._parts > MAX_FIELDS:
            raise UploadBroken(f"The form has more than {MAX_FIELDS} fields.")

    def _on_header_field(self, data: bytes, start: int, end: int) -> None:
        _append(self._part.header_name, data[start:end], MAX_HEADER_BYTES)

    def _on_header_value(self, data: bytes, start: int, end: int) -> None:
        _append(self._part.header_value, data[start:end], MAX_HEADER_BYTES)

    def _on_header_end(self) -> None:
        if bytes(self._part.header_name).lower() == b"content-disposition":
            self._part.disposition = bytes(self._part.header_value)
        self._part.header_name.clear()
        self._part.header_value.clear()

    def _on_headers_finished(self) -> None:
        _, options = parse_options_header(self._part.disposition)
        self._part.name = options.get(b"name", b"").decode("utf-8", "replace")
        if self._part.name != FILE_FIELD:
            return
        if self.filename is not None:
            self.faults.append(Fault("REQ-003", FILE_FIELD, "is there more than once; send one archive"))
            self._part.name = ""
            return
        self._part.filename = self.filename = options.get(b"filename", b"").decode("utf-8", "replace")

    def _on_part_data(self, data: bytes, start: int, end: int) -> None:
        if self._part.filename is not None:
            self.sink(data[start:end])
        elif self._part.name:
            _append(self._part.value, data[start:end], MAX_FIELD_BYTES)

    def _on_part_end(self) -> None:
        part = self._part
        if part.filename is not None or not part.name:
            return
        if part.name in self.fields:
            self.faults.append(Fault("REQ-003", part.name, "is there more than once"))
        self.fields[part.name] = part.value.decode("utf-8", "replace")

    def _on_end(self) -> None:
        self._ended = True


def boundary_of(content_type: str) -> bytes:
    """The boundary of a multipart form; raises `NotMultipart`."""
    kind, options = parse_options_header(content_type)
    boundary = options.get(b"boundary", b"")
    if kind != b"multipart/form-data" or not boundary:
        raise NotMultipart
    return boundary


def _append(target: bytearray, data: bytes, max_bytes: int) -> None:
    if len(target) + len(data) > max_bytes:
        raise UploadBroken(f"A field of the form is longer than {max_bytes} bytes.")
    target += data
