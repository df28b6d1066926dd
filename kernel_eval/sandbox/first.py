"""First program inside a box that runs a command: gives up every power, waits for the judge, becomes the command.

Run as `python -I -S -B first.py <socket> <uid> <processes> <command…>`. Standard library only.
"""

from __future__ import annotations

import os
import resource
import socket
import sys

GO = b"go"


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
    os.execvp(sys.argv[4], sys.argv[4:])


if __name__ == "__main__":
    main()
