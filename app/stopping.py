"""Tells the portal that its server is about to stop, while requests are still being answered.

The server waits for open requests before it ends the app's lifespan; those that wait for news would keep it waiting.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def told_of_stop(tell: Callable[[], None]) -> Iterator[None]:
    """Within the block, `tell` is called in the running event loop as soon as a stop signal arrives.

    The server's own handlers, which must be in place, do their work as before. In another than the main thread,
    where there are no signals, nothing is told.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    handlers = {number: handler for number in SIGNALS if callable(handler := signal.getsignal(number))}

    def handle(number: int, frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(tell)
        handlers[signal.Signals(number)](number, frame)

    for number in handlers:
        signal.signal(number, handle)
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
