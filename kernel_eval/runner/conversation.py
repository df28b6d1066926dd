"""Listens to one case's process until a time, keeping what it prints."""

from __future__ import annotations

import select
import socket
import time
from dataclasses import dataclass
from enum import Enum

from kernel_eval.runner.printable import printable
from kernel_eval.runner.protocol import Malformed, Message, receive
from kernel_eval.sandbox.capped_log import CappedLog

KEPT_OUTPUT_BYTES = 1 << 14


class Silence(Enum):
    """Why there is no message."""

    TIME_UP = "time up"
    CLOSED = "closed"
    BROKEN = "broken"
    """What came is no message of the protocol."""


@dataclass(frozen=True)
class Heard:
    """A message, or why there is none, and the judge's monotonic clock in ns at which it was there."""

    content: Message | Silence
    at_ns: int


class Conversation:
    """The judge's end of a case's socket and output."""

    def __init__(self, channel: socket.socket, output: int) -> None:
        self._channel, self._output = channel, output
        self._log = CappedLog(KEPT_OUTPUT_BYTES)
        self._poller = select.poll()
        self._poller.register(channel, select.POLLIN)
        self._poller.register(output, select.POLLIN)

    def listen(self, deadline_ns: int) -> Heard:
        """The next message before `deadline_ns` on the monotonic clock, or one that is there already.

        The judge sleeps meanwhile.
        """
        while True:
            left_ns = max(deadline_ns - time.monotonic_ns(), 0)
            events = self._poller.poll(left_ns / 1e6)
            now = time.monotonic_ns()
            ready = {descriptor for descriptor, _ in events}
            if self._channel.fileno() in ready:
                return Heard(self._receive(), now)
            if self._output in ready and not self._log.drain(self._output):
                self._poller.unregister(self._output)
            if now >= deadline_ns:
                return Heard(Silence.TIME_UP, now)

    def _receive(self) -> Message | Silence:
        try:
            return receive(self._channel) or Silence.CLOSED
        except Malformed:
            return Silence.BROKEN
        except OSError:
            return Silence.CLOSED

    def last_words(self) -> str:
        """The last line that the process printed, made printable; empty where it printed nothing."""
        while select.select([self._output], [], [], 0)[0] and self._log.drain(self._output):
            if self._log.truncated:
                break
        lines = [line for line in self._log.content().splitlines() if line.strip()]
        return printable(lines[-1]) if lines else ""
