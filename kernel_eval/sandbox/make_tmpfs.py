"""Makes one sized tmpfs for a judge without root: `python -I -S make_tmpfs.py <socket> <size> <inodes>`.

In a user namespace of its own this program may do what the judge may not. It sends the judge a descriptor of
the folder, which outlives it, and ends. Standard library only.
"""

from __future__ import annotations

import importlib.util
import socket
import sys
from pathlib import Path
from types import ModuleType


def _kernel_calls() -> ModuleType:
    """The neighbouring module, loaded by path: `-I` gives this program no package."""
    place = Path(__file__).with_name("kernel_calls.py")
    spec = importlib.util.spec_from_file_location("kernel_calls", place)
    if spec is None or spec.loader is None:
        raise ImportError(place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> None:
    """Make it and hand it over."""
    channel, size_bytes, inodes = (int(word) for word in sys.argv[1:4])
    calls = _kernel_calls()
    calls.enter_user_namespace()
    calls.private_mounts()
    descriptor = calls.detached_tmpfs(size_bytes, inodes)
    with socket.socket(fileno=channel) as judge:
        socket.send_fds(judge, [b"tmpfs"], [descriptor])


if __name__ == "__main__":
    main()
