"""One play in one forked process, as the judge conducts it."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kernel_eval.errors import InternalError
from kernel_eval.runner.claims import claims_of, declared
from kernel_eval.runner.conversation import Conversation, Heard, Silence
from kernel_eval.runner.layout import Layout, Window
from kernel_eval.runner.line import Forked
from kernel_eval.runner.memory import SealedOnce
from kernel_eval.runner.plan import PlanFile
from kernel_eval.runner.play import Play, PlayStatus, Readiness
from kernel_eval.runner.pool import Pool
from kernel_eval.runner.printable import printable
from kernel_eval.runner.process import CaseProcess
from kernel_eval.runner.protocol import Kind, Malformed, Message, send

AFTERWARDS_S = 30.0
"""What looking at results and copying them may take after "done", where time does not count."""
ENDING_S = 3.0
SAID = {
    Kind.LOAD_FAILED: PlayStatus.LOAD_FAILED,
    Kind.RAISED: PlayStatus.RAISED,
    Kind.NO_MEMORY: PlayStatus.OUT_OF_MEMORY,
}


@dataclass(frozen=True)
class Assignment:
    """What a child plays. `fresh` is the file for the outputs of a single small play, with what it stands for.

    `timed`: nothing is heard of the child after "done".
    """

    pool: Pool
    layout: Layout
    order: tuple[int, ...]
    timed: bool
    plan: PlanFile
    fresh: tuple[SealedOnce, Window] | None

    def close(self) -> None:
        """Give its descriptors back."""
        self.plan.close()
        if self.fresh is not None:
            self.fresh[0].close()


class CaseChild:
    """A forked process that plays one batch of one case and is then killed."""

    def __init__(
        self,
        forked: Forked,
        process: CaseProcess,
        assigned: Assignment,
        prepare_limit_s: float,
        exit_status: Callable[[], int],
        bury: Callable[[], None],
        settle: Callable[[], None],
        meanwhile: Callable[[], None],
        zygote_fault: Callable[[], str],
    ) -> None:
        """Made by `RunBox.spawn`. `exit_status` asks how the dead process ended; `bury` frees its place in the
        box; `settle` waits until the box forks nothing; `meanwhile` does what can be done while this one dies;
        `zygote_fault` tells what it did to the process that forked it."""
        self._forked, self._process, self._assigned = forked, process, assigned
        self._talk = Conversation(forked.channel, forked.output)
        self._prepare_limit_s = prepare_limit_s
        self._deadline_ns = time.monotonic_ns() + int(prepare_limit_s * 1e9)
        self._exit_status, self._bury = exit_status, bury
        self._settle, self._meanwhile, self._zygote_fault = settle, meanwhile, zygote_fault
        self._readiness: Readiness | None = None
        self._closed = False
        self._lingers = False

    def fileno(self) -> int:
        """Descriptor of the line to it, readable when it speaks or has ended."""
        return self._forked.channel.fileno()

    def ready(self) -> Readiness:
        """Wait until the child is prepared, stopped and verified stopped, or has failed."""
        if self._readiness is None:
            failure = self._prepare()
            if failure is not None:
                self.close()
            self._readiness = Readiness(failure)
        return self._readiness

    def _prepare(self) -> Play | None:
        heard = self._talk.listen(self._deadline_ns)
        if isinstance(heard.content, Message) and heard.content.kind is Kind.READY:
            if self._process.stop():
                return None
            return self._ended()
        return self._outcome(heard, self._deadline_ns, f"while preparing, within {self._prepare_limit_s:g} s")

    def run(self, limit_s: float) -> Play:
        """Continue the child, time its whole batch and kill it. Outputs may be read afterwards.

        `limit_s` counts from "continue". A child that could not be prepared gives its failure. A timed child is
        still being cleared away by the kernel afterwards: `close` waits for its end. Raises
        `InternalError` where it has run already or the pool was laid out anew since `spawn`.
        """
        if self._lingers or (self._closed and (self._readiness is None or self._readiness.prepared)):
            raise InternalError("a child runs only once, and not after it was closed")
        if (failure := self.ready().failure) is not None:
            return failure
        if self._assigned.pool.layout is not self._assigned.layout:
            raise InternalError("the pool was laid out anew while a child was prepared for its old layout")
        if self._assigned.fresh is None:
            self._assigned.pool.poison()
            self._assigned.pool.written()
        try:
            return self._played(limit_s)
        finally:
            if not self._lingers:
                self.close()

    def _played(self, limit_s: float) -> Play:
        play = self._continue(limit_s)
        self._process.condemn()
        self._meanwhile()
        self._lingers = self._assigned.timed and play.status is PlayStatus.OK
        if self._lingers:
            self._process.leave()
        else:
            self._process.kill()
        if fault := self._zygote_fault():
            return Play(PlayStatus.TAMPERED, detail=fault)
        self._keep_outputs(play)
        return play

    def _continue(self, limit_s: float) -> Play:
        if self._assigned.timed:
            self._settle()
        before_ns = self._process.cpu_ns()
        send(self._forked.channel, Message(Kind.GO))
        started_ns = time.monotonic_ns()
        try:
            self._process.resume()
        except OSError:
            return self._ended()
        deadline_ns = started_ns + int(limit_s * 1e9)
        heard = self._talk.listen(deadline_ns)
        cpu_ns = max(self._process.cpu_ns() - before_ns, 0)
        if not isinstance(heard.content, Message) or heard.content.kind is not Kind.DONE:
            return self._outcome(heard, deadline_ns, f"within {limit_s:g} s")
        elapsed_ns = heard.at_ns - started_ns
        if self._assigned.timed:
            return self._fetch(heard.content.values[0], elapsed_ns, cpu_ns)
        return self._afterwards(elapsed_ns, cpu_ns)

    def _fetch(self, count: int, elapsed_ns: int, cpu_ns: int) -> Play:
        """Bring results that lie elsewhere into their slots, out of the stopped process."""
        if count <= 0:
            self._process.condemn()  # first of all: whatever it still computes comes too late
        elif not self._process.stop():
            return Play(PlayStatus.TAMPERED, detail="it ended after it had said that it was done")
        fetched = []
        for row, position, address in self._assigned.plan.places(max(count, 0)):
            if not (0 <= row < len(self._assigned.order) and 0 <= position < len(self._assigned.layout.outputs.flat)):
                return Play(PlayStatus.TAMPERED, detail="it names a result that does not exist")
            content = self._process.fetch(address, self._assigned.layout.outputs.flat[position].spec.size_bytes)
            if content is None:
                return Play(PlayStatus.TAMPERED, detail="it names a result that cannot be read")
            fetched.append((self._assigned.order[row], position, content))
        # Only now, because a result may lie in another one's slot.
        for index, position, content in fetched:
            with self._assigned.pool.slot(index, position) as slot:
                slot[:] = content
        claims = declared(self._assigned.layout.call.results)
        return Play(PlayStatus.OK, elapsed_ns, claims, cpu_ns=cpu_ns, copied=max(count, 0))

    def _afterwards(self, elapsed_ns: int, cpu_ns: int) -> Play:
        deadline_ns = time.monotonic_ns() + int(AFTERWARDS_S * 1e9)
        heard = self._talk.listen(deadline_ns)
        if isinstance(heard.content, Message) and heard.content.kind is Kind.AS_DECLARED:
            claims = declared(self._assigned.layout.call.results)
            copied = max(heard.content.values[0], 0)
            return Play(PlayStatus.OK, elapsed_ns, claims, cpu_ns=cpu_ns, copied=copied)
        return self._outcome(heard, deadline_ns, "while its results were looked at")

    def _outcome(self, heard: Heard, deadline_ns: int, when: str) -> Play:
        """What anything but success means."""
        content = heard.content
        if content is Silence.TIME_UP:
            return Play(PlayStatus.TIMED_OUT, detail=_joined(f"not done {when}", self._talk.last_words()))
        if content is Silence.CLOSED:
            return self._ended()
        if isinstance(content, Message):
            if content.kind in SAID:
                return self._said(content)
            if content.kind is Kind.OUTPUT:
                return self._differs(content, deadline_ns)
        return Play(PlayStatus.TAMPERED, detail="it sent something that does not belong there")

    def _said(self, message: Message) -> Play:
        """A failure in the child's own words. An operator that ran out of memory may have been hit by the kernel."""
        detail = printable(message.text)
        if message.kind is Kind.RAISED and message.values[0] < 0:
            detail = f"in the warm-up: {detail}"
        return Play(SAID[message.kind], detail=detail)

    def _differs(self, first: Message, deadline_ns: int) -> Play:
        """Claims that differ from the declaration: as many messages as the declaration can need, no more."""
        layout = self._assigned.layout
        messages, most = [first], len(layout.call.results) + len(layout.outputs.flat) + 2
        while len(messages) <= most:
            heard = self._talk.listen(deadline_ns)
            if not isinstance(heard.content, Message):
                break
            if heard.content.kind is Kind.DIFFERS:
                with contextlib.suppress(Malformed):
                    return Play(PlayStatus.WRONG_STRUCTURE, claims=claims_of(messages))
                break
            messages.append(heard.content)
        return Play(PlayStatus.TAMPERED, detail="what it says of its results is not readable")

    def _ended(self) -> Play:
        """The process is gone, or has closed its socket: how and why."""
        alive = not self._process.ended(ENDING_S)
        self._process.kill()
        if alive:
            return Play(PlayStatus.TAMPERED, detail="it closed its line to the judge")
        if self._forked.leaf is not None and self._forked.leaf.out_of_memory():
            return Play(PlayStatus.OUT_OF_MEMORY, detail="the kernel ended it: out of memory")
        status = self._exit_status()
        if os.WIFSIGNALED(status):
            how = f"killed by {_signal_name(os.WTERMSIG(status))}"
        else:
            how = f"the process ended by itself with exit code {os.waitstatus_to_exitcode(status)}"
        return Play(PlayStatus.CRASHED, detail=_joined(how, self._talk.last_words()))

    def _keep_outputs(self, play: Play) -> None:
        if self._assigned.fresh is not None and play.status is PlayStatus.OK:
            file, window = self._assigned.fresh
            self._assigned.pool.keep_sealed(self._assigned.order[0], file.seal(), window)

    def close(self) -> None:
        """Kill and reap the child if it still lives."""
        if self._closed:
            return
        self._closed = True
        try:
            self._process.kill()
        finally:
            self._process.close()
            self._forked.close()
            self._assigned.close()
            self._bury()


def first_to_speak(children: Sequence[CaseChild], timeout_s: float) -> CaseChild:
    """The first of the children from which there is something to hear; the first of all where nothing is in time."""
    poller = select.poll()
    for child in children:
        poller.register(child, select.POLLIN | select.POLLHUP)
    speaking = {descriptor for descriptor, _ in poller.poll(timeout_s * 1000)}
    return next((child for child in children if child.fileno() in speaking), children[0])


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _joined(what: str, last_words: str) -> str:
    return f"{what}; it printed: {last_words}" if last_words else what


def checked_order(layout: Layout, order: Sequence[int]) -> tuple[int, ...]:
    """The order as a tuple. Raises `ValueError` for none, for doubles and for buffers that do not exist."""
    if not order or len(set(order)) != len(order) or not all(0 <= index < layout.count for index in order):
        raise ValueError(f"an order must name distinct buffers below {layout.count}")
    return tuple(order)
