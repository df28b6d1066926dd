"""The judge's line to a box's zygote."""

from __future__ import annotations

import contextlib
import itertools
import os
import select
import socket
from dataclasses import dataclass

from kernel_eval.errors import InternalError
from kernel_eval.runner.process import CaseProcess
from kernel_eval.runner.protocol import MESSAGE_BYTES, Kind, Malformed, Message, receive, send, unpack
from kernel_eval.sandbox.boxed import fresh_uid, output_pipe, sender_pid
from kernel_eval.sandbox.cgroup import Leaf

ANSWER_S = 30.0


@dataclass(frozen=True)
class Forked:
    """A case's process that was asked for: the judge's ends of its socket and output, its user and group."""

    number: int
    uid: int
    leaf: Leaf | None
    channel: socket.socket
    output: int

    def has_greeted(self, timeout_s: float) -> bool:
        """Whether it has given up its powers and greeted (or died), waiting for at most `timeout_s`."""
        poller = select.poll()
        poller.register(self.channel, select.POLLIN | select.POLLHUP)
        return bool(poller.poll(timeout_s * 1000))

    def meet(self) -> CaseProcess:
        """The process behind the socket, named by the kernel. Raises `InternalError`."""
        if not self.has_greeted(ANSWER_S):
            raise InternalError("a forked case does not answer")
        data, pid = sender_pid(self.channel, MESSAGE_BYTES + 1)
        try:
            greeting = unpack(data)
        except Malformed as error:
            raise InternalError(
                f"a forked case could not give up its powers (exit before greeting: {error})"
            ) from error
        if greeting.kind is not Kind.CASE_HELLO or greeting.values[0] != self.number or pid <= 0:
            raise InternalError(f"a forked case greets with {greeting.kind.name} from pid {pid}")
        self.channel.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 0)
        return CaseProcess(pid, self.leaf)

    def close(self) -> None:
        """Give both ends back."""
        self.channel.close()
        os.close(self.output)


class ZygoteLink:
    """Asks the zygote for forks and exit codes."""

    def __init__(self, channel: socket.socket, processes: int) -> None:
        self._channel = channel
        self._processes = processes
        self._numbers = itertools.count(1)

    def next_number(self) -> int:
        """A number for the next case of the box."""
        return next(self._numbers)

    def fork(self, number: int, leaf: Leaf | None) -> Forked:
        """Ask for a process; it greets on its socket once it has given up its powers."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        output, writer = output_pipe()
        forked = Forked(number, fresh_uid(), leaf, ours, output)
        try:
            send(self._channel, Message(Kind.FORK, (number, forked.uid, self._processes)), (theirs.fileno(), writer))
        except OSError as error:
            forked.close()
            raise InternalError(f"the box's zygote is gone: {error}") from error
        finally:
            theirs.close()
            os.close(writer)
        return forked

    def exit_status(self, number: int) -> int:
        """The wait status of a dead case. Raises `InternalError` where the zygote does not answer."""
        self._send(Message(Kind.REAP, (number, 1)))
        poller = select.poll()
        poller.register(self._channel, select.POLLIN | select.POLLHUP)
        answer = receive(self._channel) if poller.poll(ANSWER_S * 1000) else None
        if answer is None or answer.kind is not Kind.REAPED or answer.values[0] != number:
            raise InternalError("the box's zygote does not answer")
        return answer.values[1]

    def forget(self, number: int) -> None:
        """Let the zygote reap a dead case without asking how it ended."""
        with contextlib.suppress(InternalError):
            self._send(Message(Kind.REAP, (number, 0)))

    def _send(self, message: Message) -> None:
        try:
            send(self._channel, message)
        except OSError as error:
            raise InternalError(f"the box's zygote is gone: {error}") from error
