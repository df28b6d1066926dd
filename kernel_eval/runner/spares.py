"""Processes of a box forked ahead of need and taken up in bunches."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress

from kernel_eval.runner.line import Forked
from kernel_eval.runner.process import CaseProcess


class Spares:
    """Forked processes, some still on their way, the others confined and looked at.

    Moving a process into its control groups waits for the whole kernel once; moving the
    next one right behind it costs hardly anything. So they are met together. What `bring`
    has begun goes on beside the caller, who meanwhile can take those already met.
    """

    def __init__(self, fork: Callable[[], Forked], meet: Callable[[Forked], CaseProcess]) -> None:
        """`fork` asks for a process without waiting for it; `meet` takes it up, or ends it and raises."""
        self._fork, self._meet_one = fork, meet
        self._on_their_way: deque[Forked] = deque()
        self._met: deque[tuple[Forked, CaseProcess]] = deque()
        self._beside = ThreadPoolExecutor(1, "spares")
        self._begun: Future[None] | None = None

    def __len__(self) -> int:
        """How many there are, on their way or met."""
        self._await_begun()
        return len(self._on_their_way) + len(self._met)

    def request(self, count: int) -> None:
        """Ask for as many as are missing from `count`; they come while the caller does something else."""
        self._await_begun()
        self._request(count)

    def meet(self) -> None:
        """Take up all that are on their way, waiting for them."""
        self._await_begun()
        self._meet()

    def bring(self, count: int) -> None:
        """Fork and take up as many as are missing from `count` beside the caller."""
        self._await_begun()
        self._begun = self._beside.submit(self._bring, count)

    def meet_if_there(self) -> None:
        """Take them up if nobody has to wait for that."""
        self._await_begun()
        if all(forked.has_greeted(0) for forked in self._on_their_way):
            self._meet()

    def settle(self, timeout_s: float) -> None:
        """Wait until no fork is under way any more."""
        self._await_begun()
        for forked in self._on_their_way:
            forked.has_greeted(timeout_s)

    def take(self) -> tuple[Forked, CaseProcess]:
        """One of them, the oldest; waits only where none is met."""
        with suppress(IndexError):
            return self._met.popleft()
        self._await_begun()
        if not self._met:
            self._request(1)
            self._meet()
        return self._met.popleft()

    def close(self) -> None:
        """Give all descriptors back; the box's end kills the processes."""
        self._beside.shutdown()
        for _, process in self._met:
            process.close()
        for forked in (*self._on_their_way, *(forked for forked, _ in self._met)):
            forked.close()
        self._on_their_way.clear()
        self._met.clear()

    def _await_begun(self) -> None:
        begun, self._begun = self._begun, None
        if begun is not None:
            begun.result()

    def _bring(self, count: int) -> None:
        self._request(count)
        self._meet()

    def _request(self, count: int) -> None:
        while len(self._on_their_way) + len(self._met) < count:
            self._on_their_way.append(self._fork())

    def _meet(self) -> None:
        while self._on_their_way:
            forked = self._on_their_way.popleft()
            self._met.append((forked, self._meet_one(forked)))
