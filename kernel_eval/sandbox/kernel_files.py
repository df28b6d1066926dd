"""The kernel's small files, below /proc and /sys: read and written in one go, as often as a process is started."""

from __future__ import annotations

import os

READ_BYTES = 1 << 16


def read_file(path: str) -> str:
    """Content of a file that the kernel makes up. Raises `OSError`."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        content = b""
        while part := os.read(descriptor, READ_BYTES):
            content += part
    finally:
        os.close(descriptor)
    return content.decode("utf-8", "replace")


def write_file(path: str, value: object) -> None:
    """Tell the kernel a value in one write. Raises `OSError`."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, str(value).encode())
    finally:
        os.close(descriptor)


def thread_stats(pid: int) -> list[list[str]]:
    """The fields of `stat` from a thread's state on, by thread of a process. Raises `OSError` where it is gone."""
    folder = f"/proc/{pid}/task"
    return [read_file(f"{folder}/{thread}/stat").rpartition(")")[2].split() for thread in os.listdir(folder)]
