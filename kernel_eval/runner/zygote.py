"""The box's first process: has imported torch, runs no tensor operation, forks one process per case.

Runs inside a box, never loads anything of a submission, and keeps one thread, so that forks are sound. The judge's own
package of baselines is imported once for all forks.
"""

from __future__ import annotations

import gc
import os
import resource
import socket
from collections.abc import Callable, Mapping
from typing import Any

from kernel_eval.device.cpu import CpuDevice
from kernel_eval.runner.child import Surroundings, import_package, play
from kernel_eval.runner.child_arena import Arena
from kernel_eval.runner.protocol import Kind, Message, receive_with, send
from kernel_eval.runner.zygote_memory import use_huge_pages

Confine = Callable[[int, Mapping[int, int], bytes], None]
FORK_DESCRIPTORS = 2


class Zygote:
    """Serves the judge's requests until the judge is gone."""

    def __init__(self, channel: socket.socket, settings: Mapping[str, Any], confine: Confine | None) -> None:
        """`confine` gives up all powers in a case's process; None for a person's own code outside a sandbox."""
        self._channel = channel
        self._confine = confine
        self._filter = bytes.fromhex(settings["filter"])
        self._around = Surroundings(settings["package_dir"], settings["threads"], CpuDevice(), Arena(settings["arena"]))
        self._children: dict[int, int] = {}
        if settings["preloaded"]:
            import_package(settings["package_dir"])

    def serve(self) -> None:
        """Announce itself, then fork and reap as told; returns when the judge closes its end."""
        self._around.arena.install()
        gc.collect()
        gc.freeze()
        use_huge_pages()
        send(self._channel, Message(Kind.ZYGOTE_READY))
        while True:
            message, descriptors = receive_with(self._channel, FORK_DESCRIPTORS)
            if message is None:
                return
            if message.kind is Kind.FORK:
                self._fork(message, descriptors)
            elif message.kind is Kind.REAP:
                self._reap(*message.values[:2])

    def _fork(self, message: Message, descriptors: list[int]) -> None:
        channel, output = descriptors
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                self._become_case(message, channel, output)
                status = 0
            finally:
                os._exit(status)
        self._children[message.values[0]] = pid
        os.close(channel)
        os.close(output)

    def _become_case(self, message: Message, channel: int, output: int) -> None:
        """In the forked process: give everything up, greet the judge, play, and wait to be killed."""
        self._channel.close()
        for standard in (1, 2):
            os.dup2(output, standard)
        os.close(output)
        number, uid, processes = message.values[:3]
        if self._confine is None:
            os.setsid()
        else:
            self._confine(uid, {resource.RLIMIT_NPROC: processes}, self._filter)
        with socket.socket(fileno=channel) as judge:
            send(judge, Message(Kind.CASE_HELLO, (number,)))
            play(judge, self._around)
            judge.recv(1)

    def _reap(self, number: int, answered: int) -> None:
        pid = self._children.pop(number, 0)
        status = os.waitpid(pid, 0)[1] if pid else 0
        if answered:
            send(self._channel, Message(Kind.REAPED, (number, status)))
