"""Foreign goldens, played in a box of their own. What comes out of it is a claim until it was checked here.

The box has one thread and no optional instructions of the processor, so that a golden depends on no host.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

import torch

from kernel_eval.cases.inputs import argument_specs, call_attributes
from kernel_eval.check.rounding import cast_once
from kernel_eval.errors import GoldenFault, InternalError
from kernel_eval.golden.call import Golden, Outputs
from kernel_eval.golden.claimed import PLACEHOLDERS, claimed_results
from kernel_eval.golden.foreign_inside import DESCRIBED_BYTES, SEED, SEPARATOR
from kernel_eval.golden.foreign_package import write_foreign_package
from kernel_eval.golden.native import PINNED
from kernel_eval.model import ArgumentSpec, CallSpec, Case, Operator, ResultSpec, TensorSpec
from kernel_eval.runner.box import RunBox
from kernel_eval.runner.play import Play, PlayStatus
from kernel_eval.runner.pool import Pool
from kernel_eval.settings import Settings

MIB = 1 << 20
MEMORY_BYTES = 2048 * MIB
MEMORY_FACTOR = 24
"""Memory of a golden per byte of inputs: FP64 copies of 16-bit tensors, and as much again for what it computes."""
NAMES = {
    "inputs": "its get_input or get_inputs",
    "native": "its golden",
    "native_seen": "its golden",
    "oracle": "its golden in FP64",
    "oracle_seen": "its golden in FP64",
    "seen": "its get_output",
    "describe": "get_inputs or get_init_inputs",
}
LEAST_RESULT_BYTES, RESULT_FACTOR = 1024 * MIB, 8
"""Outputs may claim so many bytes, or so many times those of the largest inputs: the judge gives them that memory."""
Flat = Sequence[torch.Tensor]


class GoldenBox:
    """Plays goldens, hooks and descriptions of imported operators. A context manager, safe from several threads.

    It is sandboxed whatever the settings say of the candidate: a person's own code is not the suite's.
    Everything raises `GoldenFault` where the foreign code fails, hangs, or contradicts its declaration.
    """

    def __init__(self, operators: Sequence[Operator], settings: Settings, input_bytes: int) -> None:
        """`input_bytes` are those of the largest case."""
        self._operators, self._settings = operators, settings
        self._memory_bytes = MEMORY_BYTES + MEMORY_FACTOR * input_bytes
        self._most_bytes = max(LEAST_RESULT_BYTES, RESULT_FACTOR * input_bytes)
        self._stack, self._lock = ExitStack(), threading.RLock()
        self._box: RunBox | None = None
        self._hung: dict[str, str] = {}

    def __enter__(self) -> GoldenBox:
        """Start the box: its processes die with the thread that does so, hence not when it is first needed."""
        package = self._settings.work_dir / "foreign"
        write_foreign_package(self._operators, package)
        self._box = self._stack.enter_context(self._new_box(package))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._box = None
            self._stack.close()

    def inputs(self, operator: Operator, case: Case, drawn: Flat, seed: int) -> list[torch.Tensor]:
        """The inputs as the file makes or rewrites them, in the declared dtypes and shapes."""
        module = operator.foreign is not None and operator.foreign.module
        arguments = () if module else argument_specs(operator, case)
        results = tuple(
            ResultSpec(spec.name, spec.tensors, spec.tensor_list)
            for spec in argument_specs(operator, case)
            if spec.tensors
        )
        play, outputs = self._play(operator, case, "inputs", (arguments, () if module else drawn), results, seed)
        if outputs is None:
            raise _fault(case, NAMES["inputs"], play, results)
        return [tensor for tensors in outputs for tensor in tensors]

    def results(self, operator: Operator, case: Case, inputs: Flat, seed: int, *, seen: bool) -> tuple[ResultSpec, ...]:
        """Dtypes and shapes of the golden's native outputs, checked against the declaration.

        `seen` asks for those behind `get_output`.
        """
        mode = "native_seen" if seen else "native"
        placeholders = tuple(replace(PLACEHOLDERS[spec.tensor_list], name=spec.name) for spec in operator.outputs)
        given = (argument_specs(operator, case), inputs)
        play, outputs = self._play(operator, case, mode, given, placeholders, seed, private=True)
        if outputs is None and play.status is not PlayStatus.WRONG_STRUCTURE:
            raise _fault(case, "its golden", play, ())
        return claimed_results(operator, case, play.claims, self._most_bytes, seen=seen)

    def native(
        self, operator: Operator, case: Case, inputs: Flat, seed: int, results: tuple[ResultSpec, ...], *, seen: bool
    ) -> Outputs:
        """The golden's outputs in native precision."""
        given = (argument_specs(operator, case), inputs)
        mode = "native_seen" if seen else "native"
        play, outputs = self._play(operator, case, mode, given, results, seed, private=True)
        if outputs is None:
            raise _fault(case, "its golden, run a second time,", play, results)
        return outputs

    def reference(
        self, operator: Operator, case: Case, inputs: Flat, seed: int, results: tuple[ResultSpec, ...], *, seen: bool
    ) -> Golden:
        """The golden's outputs in FP64, rounded once to the dtypes of `results`."""
        given = (argument_specs(operator, case), inputs)
        lifted = tuple(replace(result, tensors=tuple(map(_lifted, result.tensors))) for result in results)
        mode = "oracle_seen" if seen else "oracle"
        play, outputs = self._play(operator, case, mode, given, lifted, seed, private=True)
        if outputs is None:
            raise _fault(case, "its golden in FP64", play, lifted)
        tensors = tuple(
            tuple(_rounded(tensor, wanted) for tensor, wanted in zip(found, result.tensors, strict=True))
            for found, result in zip(outputs, results, strict=True)
        )
        return Golden(tensors, results)

    def seen(
        self,
        operator: Operator,
        case: Case,
        outputs: Sequence[Flat],
        raw: tuple[ResultSpec, ...],
        wanted: tuple[ResultSpec, ...],
    ) -> tuple[Outputs | None, Play]:
        """Somebody's outputs behind `get_output`; None where they don't come out as the golden's do."""
        arguments = tuple(ArgumentSpec(result.name, result.tensors, result.tensor_list) for result in raw)
        flat = [tensor for tensors in outputs for tensor in tensors]
        play, found = self._play(operator, case, "seen", (arguments, flat), wanted, 0, private=True)
        return found, play

    def description(self, operator: Operator, case: Case) -> bytes:
        """What a module's file says of itself: untrusted JSON of bounded length."""
        result = (ResultSpec("description", (TensorSpec("uint8", (DESCRIBED_BYTES,)),)),)
        play, outputs = self._play(
            operator, case, "describe", ((), ()), result, operator.foreign.seed if operator.foreign else 0
        )
        if outputs is None:
            raise _fault(case, "get_inputs or get_init_inputs", play, result)
        return outputs[0][0].numpy().tobytes()

    def _play(
        self,
        operator: Operator,
        case: Case,
        mode: str,
        given: tuple[Sequence[ArgumentSpec], Flat],
        results: tuple[ResultSpec, ...],
        seed: int,
        *,
        private: bool = False,
    ) -> tuple[Play, Outputs | None]:
        """One call in a process of its own; copies of the outputs where they are as declared."""
        attributes: Mapping[str, Any] = {**call_attributes(operator, case), SEED: seed}
        call = CallSpec(f"{mode}{SEPARATOR}{operator.function}", tuple(given[0]), dict(attributes), results, private)
        with self._lock:
            if operator.name in self._hung:
                raise GoldenFault(self._hung[operator.name])
            play, outputs = self._played(call, given[1])
            if play.status is PlayStatus.TIMED_OUT:
                fault = _fault(case, NAMES[mode], play, ())
                self._hung[operator.name] = str(fault)
                raise fault
        return play, outputs

    def _played(self, call: CallSpec, inputs: Flat) -> tuple[Play, Outputs | None]:
        if self._box is None:
            raise InternalError("a golden box is used outside its context")
        pool = Pool(MIB)
        try:
            pool.lay_out(call, 1)
            for slot, tensor in zip(pool.inputs(0), inputs, strict=True):
                slot.copy_(tensor)
            play = self._box.play(call, pool, 0, self._settings.op_timeout_s)
            if play.status is not PlayStatus.OK:
                return play, None
            outputs = tuple(tuple(tensor.clone() for tensor in tensors) for tensors in pool.outputs(0))
            return play, outputs
        finally:
            pool.close()

    def _new_box(self, package: Path) -> RunBox:
        return RunBox(
            package,
            replace(self._settings, sandboxed=True),
            memory_bytes=self._memory_bytes,
            passive_threads=True,
            environment=PINNED,
        )


def _lifted(spec: TensorSpec) -> TensorSpec:
    return replace(spec, dtype="float64") if "float" in spec.dtype else spec


def _rounded(tensor: torch.Tensor, wanted: TensorSpec) -> torch.Tensor:
    dtype = getattr(torch, wanted.dtype)
    return cast_once(tensor, dtype).contiguous() if dtype.is_floating_point else tensor


def _fault(case: Case, what: str, play: Play, results: Sequence[ResultSpec]) -> GoldenFault:
    if play.status is PlayStatus.WRONG_STRUCTURE:
        wanted = ", ".join(f"{spec.dtype}{list(spec.shape)}" for result in results for spec in result.tensors)
        found = ", ".join(
            f"{tensor.dtype or '?'}{list(tensor.shape)}" for claim in play.claims for tensor in claim.tensors
        )
        return GoldenFault(
            f"{case.key}: {what} must return {wanted or 'nothing'}, returned {found or 'something else'}"
        )
    return GoldenFault(f"{case.key}: {what} failed in its box ({play.status}): {play.detail}")
