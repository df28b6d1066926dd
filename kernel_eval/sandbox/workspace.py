"""A sized writable folder that lives in memory, is shared with one box and vanishes with its owner."""

from __future__ import annotations

import itertools
import os
import stat
from pathlib import Path
from types import TracebackType

from kernel_eval.errors import SandboxIncomplete
from kernel_eval.sandbox import kernel_calls, rootless


def _owner(name: str, folder: int) -> int:
    return os.stat(name, dir_fd=folder, follow_symlinks=False).st_uid


class UnsafeFile(Exception):
    """A file made in a box is not a plain file of acceptable size; the message says why."""


class Workspace:
    """A tmpfs without a place in the file tree, reached by the judge through its descriptor.

    One box can have it. `path` may be used with ordinary file functions **before** that
    box has run. Afterwards files leave it only through `read_file`, which refuses links,
    special files, files with several names and sizes above the cap.
    """

    def __init__(self, size_bytes: int, inodes: int = 100_000) -> None:
        if rootless.rootless():
            self.descriptor = rootless.detached_tmpfs(size_bytes, inodes)
            return
        try:
            self.descriptor = kernel_calls.detached_tmpfs(size_bytes, inodes)
        except OSError as error:
            fix = "The judge needs CAP_SYS_ADMIN and Linux 5.2 or newer to make in-memory folders of limited size"
            raise SandboxIncomplete("sized tmpfs", f"{fix} ({error}).") from error

    @property
    def path(self) -> Path:
        """The folder, under a name that holds while this process lives."""
        return Path(f"/proc/{os.getpid()}/fd/{self.descriptor}")

    def give_to(self, uid: int) -> None:
        """Make `uid` the owner of everything in it, following no link. Without root it is the owner already."""
        if rootless.rootless():
            return
        for _, folders, files, place in os.fwalk(".", dir_fd=self.descriptor):
            for name in (*folders, *files):
                os.chown(name, uid, uid, dir_fd=place, follow_symlinks=False)

    def list_files(self, folder: str) -> list[str]:
        """Sorted names in a folder given relative to the workspace; empty where there is no such folder."""
        try:
            descriptor = kernel_calls.open_beneath(self.descriptor, folder, os.O_RDONLY | os.O_DIRECTORY)
        except OSError:
            return []
        try:
            return sorted(os.listdir(descriptor))
        finally:
            os.close(descriptor)

    def read_file(self, relative: str, cap_bytes: int) -> bytes:
        """Content of a regular file with one name, at most `cap_bytes` long. Raises `UnsafeFile`."""
        try:
            flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW
            descriptor = kernel_calls.open_beneath(self.descriptor, relative, flags)
        except OSError as error:
            raise UnsafeFile(f"{relative}: {os.strerror(error.errno or 0)}") from error
        try:
            facts = os.fstat(descriptor)
            if not stat.S_ISREG(facts.st_mode):
                raise UnsafeFile(f"{relative}: not a regular file")
            if facts.st_nlink != 1:
                raise UnsafeFile(f"{relative}: a file with {facts.st_nlink} names")
            if facts.st_size > cap_bytes:
                raise UnsafeFile(f"{relative}: {facts.st_size} bytes, allowed are {cap_bytes}")
            with os.fdopen(os.dup(descriptor), "rb") as file:
                return file.read(cap_bytes)
        finally:
            os.close(descriptor)

    def wipe(self, owner: int) -> None:
        """Remove everything that the dead user `owner` left, however deep, following no link.

        Folders are brought to the top before they are emptied, so depth costs nothing.
        """
        here = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self.descriptor)
        try:
            self._wipe(here, owner)
        finally:
            os.close(here)

    @staticmethod
    def _wipe(here: int, owner: int) -> None:
        waiting = [name for name in os.listdir(here) if _owner(name, here) == owner]
        moved = itertools.count()
        while waiting:
            name = waiting.pop()
            if not stat.S_ISDIR(os.stat(name, dir_fd=here, follow_symlinks=False).st_mode):
                os.unlink(name, dir_fd=here)
                continue
            folder = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=here)
            try:
                for entry in os.listdir(folder):
                    target = f"wiped-{owner}-{next(moved)}"
                    os.rename(entry, target, src_dir_fd=folder, dst_dir_fd=here)
                    waiting.append(target)
            finally:
                os.close(folder)
            os.rmdir(name, dir_fd=here)

    def close(self) -> None:
        """Give the memory back once no box uses it any more."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1

    def __enter__(self) -> Workspace:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
