"""A zygote without a sandbox, for a person's own code (`--unsandboxed`); reports from it are marked untrusted."""

from __future__ import annotations

import os
import select
import socket
import subprocess
from collections.abc import Mapping, Sequence

from kernel_eval.errors import InternalError
from kernel_eval.sandbox.boxed import START_S, output_pipe, sender_pid


class Unboxed:
    """A plain process with the same face as `sandbox.boxed.Boxed`."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Start `command`; `{socket}` in it becomes the number of its end of the socket."""
        self.channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.channel.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self.output, writer = output_pipe()
        words = [word.replace("{socket}", str(theirs.fileno())) for word in command]
        try:
            self._process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=writer, stderr=writer,
                pass_fds=(theirs.fileno(),), env=dict(environment),
            )  # fmt: skip
        finally:
            theirs.close()
            os.close(writer)

    def greet(self, size: int) -> tuple[bytes, int]:
        """First message of the process and its pid. Raises `InternalError` if it never comes."""
        poller = select.poll()
        poller.register(self.channel, select.POLLIN | select.POLLHUP)
        if poller.poll(START_S * 1000):
            message, pid = sender_pid(self.channel, size)
            if message and pid:
                self.channel.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 0)
                return message, pid
        raise InternalError("the zygote outside a sandbox did not start")

    def close(self) -> None:
        """Kill the process and free what the judge holds of it."""
        self._process.kill()
        self._process.wait()
        self.channel.close()
        os.close(self.output)
