"""Values per second that the judge draws for the inputs of a case, beside a plain call of NumPy.

Timed is the whole of `fill_inputs`, as correctness and timing call it, into memory that was touched before, as a
pool's is. The naive way draws the same range with `Generator.uniform` and casts. The aim is that of the plain float32
ranges, the slowest of them; the others stand beside it. Usage:

    python -m benchmarks.input_generation [--elements 67108864] [--rounds 5]
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable

import numpy as np
import torch

from benchmarks.support.figures import aim, finish, spread, tell
from kernel_eval.cases.inputs import fill_inputs
from kernel_eval.model import Case, Operator, RangeKind, Split, ValueRange
from kernel_eval.suite import default_bench_data, load_suite

ELEMENTS = 1 << 26
MILLIONS_PER_S = 300.0
SEED = b"input generation"
PLAIN = {
    "symmetric": ValueRange(RangeKind.UNIFORM, -1.0, 1.0),
    "asymmetric": ValueRange(RangeKind.UNIFORM, -1.0, 2.0),
    "large": ValueRange(RangeKind.UNIFORM, -65504.0, 65504.0),
    "boundary": ValueRange(RangeKind.BOUNDARY),
}
BESIDE = {
    "float16": ("float16", PLAIN["asymmetric"]),
    "bfloat16": ("bfloat16", PLAIN["asymmetric"]),
    "float32_nan": ("float32", ValueRange(RangeKind.NAN, -1.0, 1.0)),
    "int32": ("int32", ValueRange(RangeKind.UNIFORM, -1000.0, 1000.0)),
}


def case_of(operator: Operator, dtype: str, values: ValueRange, elements: int) -> Case:
    """A case with one flat input."""
    return Case(operator.name, 1, Split.PUBLIC, ((elements,),), (dtype,), {}, (values,))


def naive(into: torch.Tensor, low: float, high: float, trial: int) -> None:
    """As anybody would write it."""
    values = np.random.default_rng(trial).uniform(low, high, into.numel())
    into.copy_(torch.from_numpy(values.astype(np.float32)))


def millions_per_s(work: Callable[[int], None], elements: int, rounds: int) -> list[float]:
    """Rates of `work(trial)`; the first, which also touches the memory, does not count."""
    rates = []
    for trial in range(rounds + 1):
        began = time.perf_counter()
        work(trial)
        rates.append(elements / (time.perf_counter() - began) / 1e6)
    return rates[1:]


def measure(elements: int, rounds: int) -> dict[str, list[float]]:
    """Rates by kind of input."""
    operator = load_suite(default_bench_data(), "cann-bench-small").operator("exp")
    kinds = {f"float32_{name}": ("float32", values) for name, values in PLAIN.items()} | BESIDE
    found = {}
    for name, (dtype, values) in kinds.items():
        tell(name)
        into, case = torch.zeros(elements, dtype=getattr(torch, dtype)), case_of(operator, dtype, values, elements)

        def fill(trial: int, into: torch.Tensor = into, case: Case = case) -> None:
            fill_inputs(operator, case, SEED, trial, [into])

        found[name] = millions_per_s(fill, elements, rounds)
    into = torch.zeros(elements)
    found["naive_float32"] = millions_per_s(lambda trial: naive(into, -1.0, 2.0, trial), elements, rounds)
    return found


def main() -> int:
    """Print the figures; 0 where the aim is met."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--elements", type=int, default=ELEMENTS)
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args()
    found = measure(chosen.elements, chosen.rounds)
    medians = {name: statistics.median(rates) for name, rates in found.items()}
    slowest = min(medians[f"float32_{name}"] for name in PLAIN)
    return finish(
        "input_generation",
        {"ns_per_value": aim(1e3 / slowest, 1e3 / MILLIONS_PER_S)},
        elements=chosen.elements,
        slowest_plain_millions_per_s=round(slowest, 1),
        times_naive=round(slowest / medians["naive_float32"], 1),
        millions_per_s={name: spread(rates, 1) for name, rates in found.items()},
    )


if __name__ == "__main__":
    sys.exit(main())
