"""The process of one case: loads the package, calls the operator once per buffer, says "done". Runs inside a box.

Whatever it says after the package was imported may have been made up by the package.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import resource
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kernel_eval.device.cpu import CpuDevice
from kernel_eval.runner.child_arena import Arena
from kernel_eval.runner.child_claims import as_declared, claims, flat_tensors
from kernel_eval.runner.child_interfaces import listing
from kernel_eval.runner.child_memory import Buffers
from kernel_eval.runner.child_modules import module_function
from kernel_eval.runner.protocol import LISTING, PLACE, Kind, Message, pack, receive, receive_with, send

PACKAGE = "cann_bench"
PLAN_DESCRIPTORS = 3


@dataclass(frozen=True)
class Surroundings:
    """What a case's process has from its zygote."""

    package_dir: str
    threads: int
    device: CpuDevice
    arena: Arena


class Failed(Exception):
    """The case cannot go on; carries the message for the judge."""

    def __init__(self, message: Message) -> None:
        super().__init__(message.kind.name)
        self.message = message


def describe(error: BaseException) -> bytes:
    """An exception in one line of bytes; its own text may misbehave."""
    name = type(error).__name__
    try:
        text = f"{name}: {error}"
    except BaseException:  # noqa: BLE001 -- the exception is foreign code
        text = name
    return text.encode("utf-8", "replace")


def _failure(error: BaseException, kind: Kind, arena: Arena, *values: int) -> Failed:
    if isinstance(error, MemoryError) or arena.refused:
        kind = Kind.NO_MEMORY
    return Failed(Message(kind, values, describe(error)))


def import_package(package_dir: str) -> Any:
    """The package `cann_bench` in that folder."""
    sys.path.insert(0, package_dir)
    return importlib.import_module(PACKAGE)


def load_function(package_dir: str, name: str, arena: Arena) -> Callable[..., Any]:
    """Import the package and find the operator: `torch.ops.cann_bench.<name>`, then `cann_bench.<name>`."""
    import torch

    found: Any = None
    try:
        package = import_package(package_dir)
        if name == LISTING:
            return listing(package)
        found = getattr(getattr(torch.ops, PACKAGE), name, None) or getattr(package, name, None)
    except BaseException as error:  # noqa: BLE001 -- importing runs foreign code
        raise _failure(error, Kind.LOAD_FAILED, arena) from None
    if not callable(found):
        text = f"neither torch.ops.{PACKAGE}.{name} nor {PACKAGE}.{name} exists"
        raise Failed(Message(Kind.LOAD_FAILED, (), text.encode()))
    function: Callable[..., Any] = found
    return function


def load_module(kind: Callable[..., Any], plan: dict[str, Any], arena: Arena) -> Callable[..., Any]:
    """An instance of a `torch.nn.Module` class as a function of its arguments by name."""
    try:
        return module_function(kind, plan["init"], plan["seed"])
    except BaseException as error:  # noqa: BLE001 -- making it runs foreign code
        raise _failure(error, Kind.LOAD_FAILED, arena) from None


class Batch:
    """All that the calls need, made before the clock runs."""

    def __init__(self, plan: dict[str, Any], around: Surroundings, buffers: Buffers) -> None:
        self._plan, self._around, self._buffers = plan, around, buffers
        self._results: list[list[Any]] = plan["results"]
        self._order: list[int] = plan["order"]
        self._addresses = [buffers.slot_addresses(index) for index in self._order]
        self._simple = len(self._results) == 1 and not self._results[0][0]
        slots = [(offset, size_bytes) for _, _, offset, size_bytes in buffers.slots]
        around.arena.lay_out(buffers.out_base, plan["buffers"], buffers.out_stride, slots)
        self._calls = [(index, buffers.arguments(index)) for index in self._order]

    def warm_up(self, function: Callable[..., Any]) -> list[Message]:
        """Call on the warm-up buffer; the claims of its last result, empty without a warm-up."""
        found: list[Message] = []
        index = self._plan["buffers"] - 1
        current = self._around.arena.current
        for _ in range(self._plan["warmup"]):
            current.value = index
            try:
                returned = function(**self._buffers.arguments(index))
                found = claims(returned, self._results, self._around.device) if self._results else []
                if as_declared(found, self._results):
                    self._around.arena.learn(
                        [tensor.data_ptr() for tensor in flat_tensors(returned, len(self._results))]
                    )
            except BaseException as error:  # noqa: BLE001 -- foreign code
                raise _failure(error, Kind.RAISED, self._around.arena, -1) from None
        current.value = -1
        return found

    def run(self, function: Callable[..., Any]) -> list[Any]:
        """The timed part: one call per buffer, every result kept."""
        current = self._around.arena.current
        returned: list[Any] = []
        keep = returned.append
        try:
            for index, arguments in self._calls:
                current.value = index
                keep(function(**arguments))
            self._around.device.synchronize()
        except BaseException as error:  # noqa: BLE001 -- foreign code
            raise _failure(error, Kind.RAISED, self._around.arena, len(returned)) from None
        current.value = -1
        return returned

    def elsewhere(self, returned: list[Any]) -> list[tuple[int, int, int]]:
        """Call, position and address of each result outside its slot. Part of the timed window, so kept short."""
        try:
            return self._elsewhere(returned)
        except BaseException as error:  # noqa: BLE001 -- foreign values, which may be anything
            raise _failure(error, Kind.RAISED, self._around.arena, len(returned)) from None

    def name_places(self, places: list[tuple[int, int, int]]) -> None:
        """Write the table from which the judge fetches results."""
        for row, place in enumerate(places):
            PLACE.pack_into(self._buffers.table, row * PLACE.size, *place)

    def _elsewhere(self, returned: list[Any]) -> list[tuple[int, int, int]]:
        if self._simple:
            pairs = zip(returned, self._addresses, strict=True)
            return [(k, 0, at) for k, (tensor, want) in enumerate(pairs) if (at := tensor.data_ptr()) != want[0]]
        found = []
        for k, (value, addresses) in enumerate(zip(returned, self._addresses, strict=True)):
            for position, tensor in enumerate(flat_tensors(value, len(self._results))):
                if (at := tensor.data_ptr()) != addresses[position]:
                    found.append((k, position, at))
        return found

    def claims(self, returned: list[Any]) -> list[Message] | None:
        """The first claims that differ from the declaration; None where all are as declared."""
        for value in returned if self._results else ():
            found = claims(value, self._results, self._around.device)
            if not as_declared(found, self._results):
                return found
        return None

    def copy(self, returned: list[Any], places: list[tuple[int, int, int]]) -> None:
        """Bring results that lie elsewhere into their slots, by way of clones, since they may lie in each other's."""
        flat = {k: flat_tensors(returned[k], len(self._results)) for k, _, _ in places}
        clones = [flat[k][position].detach().clone() for k, position, _ in places]
        for (k, position, _), clone in zip(places, clones, strict=True):
            self._buffers.slot(self._order[k], position).copy_(clone)


def _prepare(channel: socket.socket, around: Surroundings) -> tuple[dict[str, Any], Buffers]:
    message, descriptors = receive_with(channel, PLAN_DESCRIPTORS)
    if message is None or message.kind is not Kind.PLAN or len(descriptors) != PLAN_DESCRIPTORS:
        raise ConnectionAbortedError("the judge is gone")
    document, inputs, outputs = descriptors
    plan: dict[str, Any] = json.loads(os.pread(document, message.values[0], 0))
    if plan["address_bytes"]:
        resource.setrlimit(resource.RLIMIT_AS, (plan["address_bytes"], plan["address_bytes"]))
    around.device.prepare(around.threads)
    buffers = Buffers(plan, around.device, inputs, outputs, document)
    for descriptor in descriptors:
        os.close(descriptor)
    return plan, buffers


def _play_checked(channel: socket.socket, batch: Batch, function: Callable[..., Any]) -> None:
    """A batch whose time does not count: structure looked at and results copied after it."""
    returned = batch.run(function)
    send(channel, Message(Kind.DONE))
    found = batch.claims(returned)
    if found is not None:
        for message in (*found, Message(Kind.DIFFERS)):
            send(channel, message)
        return
    places = batch.elsewhere(returned)
    batch.copy(returned, places)
    send(channel, Message(Kind.AS_DECLARED, (len(places),)))


def _play_timed(channel: socket.socket, batch: Batch, function: Callable[..., Any]) -> None:
    """A batch whose time counts. After "done" nothing more is heard of this process: the judge stops it, fetches
    the results that lie elsewhere, and kills it."""
    all_in_place = pack(Message(Kind.DONE))
    returned = batch.run(function)
    places = batch.elsewhere(returned)
    if places:
        batch.name_places(places)
    channel.send(pack(Message(Kind.DONE, (len(places),))) if places else all_in_place)
    channel.recv(1)  # keeps the results alive until the judge has fetched them and kills this process


def play(channel: socket.socket, around: Surroundings) -> None:
    """Play one case from PLAN to DONE; the judge kills this process afterwards."""
    try:
        plan, buffers = _prepare(channel, around)
        function = load_function(around.package_dir, plan["function"], around.arena)
        if plan["init"] is not None:
            function = load_module(function, plan, around.arena)
        batch = Batch(plan, around, buffers)
        found = batch.warm_up(function)
        if found and not as_declared(found, plan["results"]):
            for message in (*found, Message(Kind.DIFFERS)):
                send(channel, message)
            return
        gc.collect()
        gc.disable()
        around.device.settle()
        send(channel, Message(Kind.READY))
        answer = receive(channel)
        if answer is None or answer.kind is not Kind.GO:
            raise ConnectionAbortedError("the judge is gone")
        (_play_timed if plan["warmup"] else _play_checked)(channel, batch, function)
    except Failed as failure:
        send(channel, failure.message)
    except MemoryError as error:
        send(channel, Message(Kind.NO_MEMORY, (), describe(error)))
