"""The messages between judge, zygote and case: all of one fixed size, packed by `struct`. Standard library only.

A message has a kind, sixteen integers and a short text. What a child sends is a claim: the
judge takes no length, address, descriptor or type from it, and no order of messages but the planned one.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

VALUES = 16
TEXT_BYTES = 400
FORMAT = struct.Struct(f"<II{VALUES}q{TEXT_BYTES}s")
MAGIC = 0x48415031
MESSAGE_BYTES = FORMAT.size
MOST_DIMENSIONS = 8
DTYPES = (
    "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
    "float16", "bfloat16", "float32", "float64", "float8_e4m3fn", "float8_e5m2",
)  # fmt: skip
"""Dtypes by their number in a claim, counted from 1; 0 stands for any other."""
PLACE = struct.Struct("<3q")
"""An entry of the table: index in the order, position of the result, its address in the case's process."""
LISTING, LISTING_BYTES = "?interfaces", 1 << 16
"""No identifier, so no operator's name: asks for what a package offers, as text in a tensor of so many bytes."""
CONTAINERS = ("tensor", "list", "tuple", "other")
EXACT_TYPE, CONTIGUOUS, ON_DEVICE = 1, 2, 4
"""Bits of a tensor claim's flags."""


class Kind(IntEnum):
    """What a message is. The comment names sender → receiver and the values."""

    ZYGOTE_READY = 1  # zygote → judge
    FORK = 2  # judge → zygote: number, uid, processes; descriptors: the case's socket, its output
    REAP = 3  # judge → zygote: number, 1 to be answered
    REAPED = 4  # zygote → judge: number, wait status
    CASE_HELLO = 5  # case → judge: number
    PLAN = 6  # judge → case; descriptors: plan, inputs, outputs
    READY = 7  # case → judge
    GO = 8  # judge → case
    DONE = 9  # case → judge: number of results that lie elsewhere, which its table names
    AS_DECLARED = 10  # case → judge: number of results copied
    OUTPUT = 11  # case → judge: container, count; text: type's name
    TENSOR = 12  # case → judge: flags, dtype, rank, sizes
    DIFFERS = 13  # case → judge: ends a list of OUTPUT and TENSOR
    LOAD_FAILED = 14  # case → judge; text
    RAISED = 15  # case → judge: index in the order, -1 in the warm-up; text
    NO_MEMORY = 16  # case → judge; text


class Message(NamedTuple):
    """One message; `values` may be shorter than `VALUES`."""

    kind: Kind
    values: tuple[int, ...] = ()
    text: bytes = b""


class Malformed(Exception):
    """What arrived is no message of this protocol."""


def pack(message: Message) -> bytes:
    """The message's `MESSAGE_BYTES` bytes; the text is cut at `TEXT_BYTES`."""
    values = message.values + (0,) * (VALUES - len(message.values))
    return FORMAT.pack(MAGIC, message.kind, *values, message.text[:TEXT_BYTES])


def unpack(data: bytes) -> Message:
    """The message in exactly `MESSAGE_BYTES` bytes. Raises `Malformed`."""
    if len(data) != MESSAGE_BYTES:
        raise Malformed(f"{len(data)} bytes")
    magic, kind, *rest = FORMAT.unpack(data)
    if magic != MAGIC or kind not in Kind._value2member_map_:
        raise Malformed(f"kind {kind}")
    return Message(Kind(kind), tuple(rest[:VALUES]), rest[VALUES].rstrip(b"\0"))


def send(channel: socket.socket, message: Message, descriptors: Sequence[int] = ()) -> None:
    """Send a message, with descriptors from the judge inwards only."""
    if descriptors:
        socket.send_fds(channel, [pack(message)], list(descriptors))
    else:
        channel.send(pack(message))


def receive(channel: socket.socket) -> Message | None:
    """Receive a message; None at the end. Descriptors are refused by the kernel and `Malformed` is raised for them."""
    data, _, flags, _ = channel.recvmsg(MESSAGE_BYTES + 1)
    if not data:
        return None
    if flags & (socket.MSG_TRUNC | socket.MSG_CTRUNC):
        raise Malformed("too long, or with descriptors")
    return unpack(data)


def receive_with(channel: socket.socket, count: int) -> tuple[Message | None, list[int]]:
    """Receive a message from the judge with up to `count` descriptors. For the inside of a box only."""
    data, descriptors, _, _ = socket.recv_fds(channel, MESSAGE_BYTES + 1, count)
    for descriptor in descriptors:
        os.set_inheritable(descriptor, False)
    return (unpack(data) if data else None), descriptors
