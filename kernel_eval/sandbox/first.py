"""First program inside a box that runs a command: gives up every power, waits for the judge, becomes the command.

Run as `python -I -S -B first.py <socket> <uid> <processes> <command…>`. Standard library only.
"""

from __future__ import annotations

import os
import resource
import socket
import sys

GO = b"go"
NOT_FOUND = 127


def main() -> None:
    """Confine this process, report to the judge, and exec the command once the judge says so."""
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    from confine import confine  # type: ignore[import-not-found]

    descriptor, uid, processes = (int(word) for word in sys.argv[1:4])
    confine(uid, {resource.RLIMIT_NPROC: processes})
    with socket.socket(fileno=descriptor) as judge:
        judge.send(b"hello")
        if judge.recv(len(GO) + 1) != GO:
            raise ConnectionAbortedError("the judge did not let the command run")
    if os.getpid() == 1:
        sys.exit(_tend(sys.argv[4:]))
    os.execvp(sys.argv[4], sys.argv[4:])


def _tend(command: list[str]) -> int:
    """As process 1 of the box: run the command, reap whatever is left to it; the command's exit code as a shell
    tells it."""
    main = os.fork()
    if main == 0:
        try:
            os.execvp(command[0], command)
        except OSError as error:
            sys.stderr.write(f"{command[0]}: {error.strerror}\n")
        os._exit(NOT_FOUND)
    while True:
        pid, status = os.wait()
        if pid == main:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


if __name__ == "__main__":
    main()
