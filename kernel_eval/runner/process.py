"""A case's process as the judge holds it: by a descriptor that can name nobody else, stopped and killed for sure."""

from __future__ import annotations

import ctypes
import os
import select
import signal
import time

from kernel_eval.errors import InternalError
from kernel_eval.sandbox.cgroup import Leaf
from kernel_eval.sandbox.kernel_files import thread_stats

KILL_S = 15.0
STOP_S = 15.0
STOPPED = frozenset("tT")
FLAGS, EXITING = 6, 0x4
"""Place of a thread's flags behind its name in `stat`, and the one that the kernel sets first of all when it ends."""
MOST_ADDRESS = (1 << 64) - 1


def is_leaving(pid: int) -> bool:
    """Whether every thread of a process has begun to end, after which none runs any code of its own."""
    try:
        threads = thread_stats(pid)
    except OSError:
        return not os.path.exists(f"/proc/{pid}")
    return all(int(fields[FLAGS]) & EXITING for fields in threads)


class _Vector(ctypes.Structure):
    """`struct iovec` of the kernel."""

    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


class CaseProcess:
    """A living or dead case. `leaf` is None for a person's own code outside a sandbox."""

    def __init__(self, pid: int, leaf: Leaf | None) -> None:
        self.pid = pid
        self._leaf = leaf
        self.descriptor = os.pidfd_open(pid)

    def _signal(self, number: signal.Signals) -> None:
        signal.pidfd_send_signal(self.descriptor, number)

    def _states(self) -> set[str]:
        """States of all its threads, by the kernel's letters."""
        return {fields[0] for fields in thread_stats(self.pid)}

    def stop(self) -> bool:
        """Stop it and make sure that every thread stands; False where it is dead.

        No process can refuse to stop, so one that does not is our fault: `InternalError`.
        """
        deadline = time.monotonic() + STOP_S
        try:
            self._signal(signal.SIGSTOP)
            while not self._states() <= STOPPED:
                if self.ended(0):
                    return False
                if time.monotonic() > deadline:
                    raise InternalError(f"process {self.pid} of a case does not stop within {STOP_S:g} s")
                time.sleep(0.0002)
        except OSError:
            return False
        return not self.ended(0)

    def resume(self) -> None:
        """Let it go on. Raises `ProcessLookupError` where it is dead."""
        self._signal(signal.SIGCONT)

    def cpu_ns(self) -> int:
        """CPU time of all its threads so far, 0 once it is gone. It starts no other processes: the box forbids it."""
        try:
            return time.clock_gettime_ns((~self.pid << 3) | 2)
        except OSError:
            return 0

    def ended(self, timeout_s: float) -> bool:
        """Whether all its threads have ended, waiting for at most `timeout_s`."""
        poller = select.poll()
        poller.register(self.descriptor, select.POLLIN)
        return bool(poller.poll(timeout_s * 1000))

    def condemn(self) -> None:
        """Kill it with everything in its control group, without waiting for the end."""
        if self._leaf is not None:
            self._leaf.kill()
        else:
            self._kill_session()

    def leave(self) -> None:
        """Wait until a condemned process can do nothing any more: all its threads are on their way out.

        What the kernel then still has to clear away, mostly its memory, takes some milliseconds more; `kill` waits
        for that too. Raises `InternalError` where it stays.
        """
        deadline = time.monotonic() + KILL_S
        while not all(map(is_leaving, self._condemned())):
            if time.monotonic() > deadline:
                raise InternalError(f"process {self.pid} of a case does not die")
            time.sleep(0.0001)

    def _condemned(self) -> list[int]:
        return [self.pid] if self._leaf is None else self._leaf.pids()

    def kill(self) -> None:
        """Kill it and wait until it is dead. Raises `InternalError` where it does not die."""
        self.condemn()
        if not self.ended(KILL_S):
            raise InternalError(f"process {self.pid} of a case does not die")

    def _kill_session(self) -> None:
        """Without a control group: the session that the case leads, so far as its processes stayed in it."""
        try:
            self._signal(signal.SIGKILL)
            os.killpg(self.pid, signal.SIGKILL)
        except OSError:
            return

    def fetch(self, address: int, size_bytes: int) -> bytearray | None:
        """Copy of the stopped process's memory at `address`; None where it cannot be read."""
        content = bytearray(size_bytes)
        if not size_bytes:
            return content
        local = _Vector(ctypes.addressof((ctypes.c_char * size_bytes).from_buffer(content)), size_bytes)
        remote = _Vector(address & MOST_ADDRESS, size_bytes)
        libc = ctypes.CDLL(None, use_errno=True)
        libc.process_vm_readv.restype = ctypes.c_ssize_t
        got = libc.process_vm_readv(self.pid, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0)
        return content if got == size_bytes else None

    def close(self) -> None:
        """Give the descriptor back."""
        os.close(self.descriptor)
