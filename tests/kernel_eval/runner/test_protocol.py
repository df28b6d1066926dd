"""Messages, claims and foreign text: nothing but the expected gets through."""

from __future__ import annotations

import os
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel_eval.model import Container, ResultSpec
from kernel_eval.runner.claims import claims_of, declared
from kernel_eval.runner.play import PlayStatus
from kernel_eval.runner.printable import MOST_CHARACTERS, printable
from kernel_eval.runner.protocol import (
    CONTIGUOUS,
    EXACT_TYPE,
    MESSAGE_BYTES,
    ON_DEVICE,
    VALUES,
    Kind,
    Malformed,
    Message,
    pack,
    receive,
    send,
    unpack,
)

from .calls import floats


@given(
    st.sampled_from(Kind),
    st.lists(st.integers(-(2**63), 2**63 - 1), max_size=VALUES),
    st.binary(max_size=900).filter(lambda text: not text[:400].endswith(b"\0")),
)
def test_a_message_survives_packing(kind: Kind, values: list[int], text: bytes) -> None:
    back = unpack(pack(Message(kind, tuple(values), text)))
    assert back.kind is kind
    assert back.values == tuple(values) + (0,) * (VALUES - len(values))
    assert back.text == text[:400]


@given(st.binary(max_size=MESSAGE_BYTES + 8))
def test_arbitrary_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(Malformed):
        unpack(data)


def test_receiving_refuses_everything_but_one_whole_message() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        for data in (b"short", pack(Message(Kind.DONE)) + b"x", bytes(MESSAGE_BYTES)):
            theirs.send(data)
            with pytest.raises(Malformed):
                receive(ours)
        descriptor = os.memfd_create("x")
        before = len(os.listdir("/proc/self/fd"))
        send(theirs, Message(Kind.DONE), (descriptor,))
        with pytest.raises(Malformed, match="descriptors"):
            receive(ours)
        assert len(os.listdir("/proc/self/fd")) == before
        os.close(descriptor)
        theirs.close()
        assert receive(ours) is None


GOOD = EXACT_TYPE | CONTIGUOUS | ON_DEVICE


def test_claims_are_read_as_said() -> None:
    (claim,) = claims_of([Message(Kind.OUTPUT, (1, 1), b"list"), Message(Kind.TENSOR, (GOOD, 12, 2, 3, 4), b"Tensor")])
    assert claim.container is Container.LIST
    assert claim.tensors[0].dtype == "float32"
    assert claim.tensors[0].shape == (3, 4)
    assert declared([ResultSpec("y", (floats(3, 4),), True)])[0].tensors == claim.tensors


@pytest.mark.parametrize(
    "messages",
    [
        [Message(Kind.TENSOR, (GOOD, 12, 1, 1))],
        [Message(Kind.OUTPUT, (9, 1))],
        [Message(Kind.OUTPUT, (0, -1))],
        [Message(Kind.OUTPUT, (0, 1)), Message(Kind.TENSOR, (GOOD, 99, 1, 1))],
        [Message(Kind.OUTPUT, (0, 1)), Message(Kind.TENSOR, (GOOD, 1, -1))],
        [Message(Kind.OUTPUT, (0, 1)), Message(Kind.READY)],
    ],
)
def test_senseless_claims_are_refused(messages: list[Message]) -> None:
    def padded(message: Message) -> Message:
        return unpack(pack(message))

    with pytest.raises(Malformed):
        claims_of([padded(message) for message in messages])


@given(st.binary(max_size=3000))
def test_foreign_text_becomes_one_short_printable_line(data: bytes) -> None:
    line = printable(data)
    assert len(line) <= MOST_CHARACTERS
    assert line.isprintable()


def test_what_could_mislead_a_reader_is_taken_out() -> None:
    text = "a\x1b[31mred\u202eback\u200bzero\r\nnext\tπ 漢"
    assert printable(text.encode()) == "a [31mred back zero next π 漢"


def test_every_status_but_ok_has_a_verdict() -> None:
    assert {status for status in PlayStatus if status.verdict is None} == {PlayStatus.OK}
