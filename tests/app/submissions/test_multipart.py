"""Reading a form as a stream, however it is cut and whatever is wrong with it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.submissions.errors import NotMultipart, UploadBroken
from app.submissions.multipart import MAX_FIELD_BYTES, MAX_FIELDS, FormReader, boundary_of

BOUNDARY = b"frontier"


def part(name: str, data: bytes, filename: str | None = None) -> bytes:
    extra = f'; filename="{filename}"' if filename is not None else ""
    head = f'--frontier\r\nContent-Disposition: form-data; name="{name}"{extra}\r\n\r\n'
    return head.encode() + data + b"\r\n"


def body(*parts: bytes) -> bytes:
    return b"".join(parts) + b"--frontier--\r\n"


def read(data: bytes, step: int = 1 << 20) -> tuple[FormReader, bytes]:
    sunk = bytearray()
    reader = FormReader(BOUNDARY, lambda piece: sunk.extend(piece))
    for start in range(0, len(data), step):
        reader.write(data[start : start + step])
    reader.finish()
    return reader, bytes(sunk)


@settings(max_examples=30, deadline=None)
@given(content=st.binary(max_size=300), step=st.integers(1, 97))
def test_every_cut_of_the_body_gives_the_same_fields_and_file(content: bytes, step: int) -> None:
    reader, sunk = read(body(part("board", b"b\xc3\xa4r"), part("file", content, "k.tar"), part("note", b"n")), step)
    assert sunk == content
    assert reader.filename == "k.tar"
    assert reader.fields == {"board": "bär", "note": "n"}
    assert reader.faults == []


@pytest.mark.parametrize("cut", [1, 30, -3, -5])
def test_a_body_that_ends_early_is_broken(cut: int) -> None:
    data = body(part("file", b"x" * 40, "k.tar"))
    with pytest.raises(UploadBroken):
        read(data[:cut])


def test_a_body_of_something_else_is_broken() -> None:
    with pytest.raises(UploadBroken):
        read(b"PK\x03\x04 no form at all")


def test_doubled_fields_and_files_are_faults_and_the_first_file_counts() -> None:
    reader, sunk = read(body(part("file", b"a", "1"), part("file", b"b", "2"), part("x", b"1"), part("x", b"2")))
    assert sunk == b"a"
    assert [(fault.rule, fault.where) for fault in reader.faults] == [("REQ-003", "file"), ("REQ-003", "x")]


def test_memory_is_bounded_by_field_size_and_number() -> None:
    with pytest.raises(UploadBroken, match="longer"):
        read(body(part("note", b"x" * (MAX_FIELD_BYTES + 1))))
    with pytest.raises(UploadBroken, match="more than"):
        read(body(*(part(f"f{number}", b"x") for number in range(MAX_FIELDS + 1))))


def test_a_missing_file_is_no_file() -> None:
    reader, _ = read(body(part("board", b"b")))
    assert reader.filename is None


@pytest.mark.parametrize("kind", ["", "application/json", "multipart/form-data", "multipart/mixed; boundary=x"])
def test_only_forms_are_read(kind: str) -> None:
    with pytest.raises(NotMultipart):
        boundary_of(kind)
