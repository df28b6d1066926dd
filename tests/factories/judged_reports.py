"""Reports of made-up kernels on the real suite: real limits, times drawn around a skill, real scoring."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from kernel_eval.hap import CpuPeaks
from kernel_eval.hap.cpu import cpu_limit
from kernel_eval.model import (
    Case,
    CaseResult,
    Comparison,
    Flag,
    FlagId,
    Limit,
    Measurement,
    MeasurementState,
    Operator,
    OperatorResult,
    Report,
    Severity,
    Split,
    Suite,
    Verdict,
    Worst,
)
from kernel_eval.score import score_operator

PEAKS: Final = CpuPeaks(
    cpu_model="Example CPU 2.6 GHz",
    cores=2,
    threads=2,
    memory_bytes_per_s=14e9,
    fill_bytes_per_s=15e9,
    cache_bytes=32 << 20,
    cache_bytes_per_s=50e9,
    near=(),
    flops={"float32": 120e9},
    vector_ops={"b16": 120e9, "b32": 60e9, "b64": 30e9},
)
POOL_BYTES: Final = 256 << 20
HIDDEN_CASES: Final = 80
BUILD_LOG: Final = """running build.sh
[1/8] g++ -O3 -fPIC -c csrc/exp.cpp
[8/8] linking cann_bench/_ops.so
Successfully built cann_bench-1.0.0"""
DETERMINED_SEED: Final = 20261130


@dataclass(frozen=True)
class Kernel:
    """How good a made-up kernel is: `skill` 0 is as fast as the baseline, 1 at the limit, below 0 slower.

    `failing` gives verdicts of some cases by id; `whole` a verdict on the operator as a whole;
    `beyond` and `unstable` name public cases faster than the limit and with wavering times.
    """

    skill: float = 0.5
    failing: Mapping[int, Verdict] = field(default_factory=dict)
    whole: Verdict | None = None
    beyond: frozenset[int] = frozenset()
    unstable: frozenset[int] = frozenset()


def with_hidden_cases(suite: Suite) -> Suite:
    """The suite with 80 hidden cases per operator, shaped like its public ones."""
    hidden = [
        replace(cases[number % len(cases)], case_id=number + 1, split=Split.HIDDEN)
        for operator in suite.operators
        for cases in [suite.cases_of(operator.name)]
        for number in range(HIDDEN_CASES)
    ]
    digest = "5e1d" * 16
    return replace(suite, cases=(*suite.cases, *hidden), hidden_digest=digest, season="2026-winter")


def operator_result(suite: Suite, operator: Operator, kernel: Kernel, chance: random.Random) -> OperatorResult:
    """What the judge would say of that kernel."""
    cases = suite.cases_of(operator.name)
    if kernel.whole is not None:
        message = f"{operator.name}: error: expected ';' before 'return' at csrc/{operator.name}.cpp:41"
        log = f"[2/8] g++ -O3 -c csrc/{operator.name}.cpp\n{message}\nninja: build stopped: subcommand failed."
        return score_operator(
            operator.name, operator.level, (), len(cases), verdict=kernel.whole, message=message, log_excerpt=log
        )
    results = [_case_result(operator, case, kernel, chance) for case in cases]
    return score_operator(operator.name, operator.level, results, len(cases))


def _case_result(operator: Operator, case: Case, kernel: Kernel, chance: random.Random) -> CaseResult:
    limit = cpu_limit(operator, case, PEAKS, POOL_BYTES)
    baseline_us = limit.limit_us * chance.uniform(1.5, 3.2) + 4.0
    verdict = kernel.failing.get(case.case_id, Verdict.ACCEPTED)
    if verdict is not Verdict.ACCEPTED:
        return _failed(operator, case, verdict, limit, baseline_us)
    skill = min(kernel.skill + chance.gauss(0, 0.08), 0.97)
    own_us = limit.limit_us + (baseline_us - limit.limit_us) * (1 - skill)
    if case.split is Split.PUBLIC and case.case_id in kernel.beyond:
        own_us = limit.limit_us * 0.93
    return CaseResult(
        operator=operator.name,
        case_id=case.case_id,
        split=case.split,
        verdict=verdict,
        rule="first_screen",
        comparison=Comparison(verdict, "first_screen", mean_re=2.3e-7, max_re=1.9e-6, threshold=2**-13),
        candidate=_measured(own_us, chance),
        baseline=_measured(baseline_us, chance),
        limit=limit,
        flags=_wavering(case) if case.split is Split.PUBLIC and case.case_id in kernel.unstable else (),
        attempted=True,
    )


def _wavering(case: Case) -> tuple[Flag, ...]:
    said = "the times of the processes lie far apart"
    return (Flag(FlagId.UNSTABLE_TIMING, Severity.NOTE, case.operator, case.case_id, said),)


def _failed(operator: Operator, case: Case, verdict: Verdict, limit: Limit, baseline_us: float) -> CaseResult:
    said = {
        Verdict.WRONG_VALUES: "output 0, element 1041: found 0.25, golden 0.5; relative error 0.5, allowed 0.0012",
        Verdict.WRONG_STRUCTURE: "output 0 is float16, the case declares float32. Cast inside your kernel.",
        Verdict.CRASHED: "the process was ended by SIGSEGV (invalid memory access)",
        Verdict.TIMED_OUT: "no answer within 10.0 s",
    }
    compared = None
    if verdict is Verdict.WRONG_VALUES:
        worst = Worst(output=0, tensor=0, index=1041, golden=0.5, found=0.25)
        compared = Comparison(verdict, "regions", said[verdict], 3.1e-3, 0.5, 2**-13, worst=worst)
    return CaseResult(
        operator=operator.name,
        case_id=case.case_id,
        split=case.split,
        verdict=verdict,
        rule="regions" if compared else "",
        message=said.get(verdict, ""),
        comparison=compared,
        limit=limit,
        anchor_us=baseline_us,
        attempted=True,
    )


def _measured(median_us: float, chance: random.Random) -> Measurement:
    half = median_us * chance.uniform(0.004, 0.03)
    samples = tuple(median_us + half * shift for shift in (-1.0, -0.4, 0.0, 0.5, 1.0))
    return Measurement(
        MeasurementState.MEASURED, samples, median_us, half * 0.5, (median_us - half, median_us + half), calls=64
    )


def report_on(
    suite: Suite, kernels: Mapping[str, Kernel], seed: int = DETERMINED_SEED, *, steady: bool = True
) -> Report:
    """A whole report on some of the suite's operators."""
    chance = random.Random(seed)
    results = [operator_result(suite, suite.operator(name), kernel, chance) for name, kernel in kernels.items()]
    return replace(_report(suite, results), control=_control(steady))


def _control(steady: bool) -> Measurement:
    """The control kernel on a steady host, or on one whose times lie 5 % apart."""
    step = 0.1 if steady else 1.05
    samples = tuple(21.0 + step * shift for shift in (0, 1, -1, 3, 0, 1, -1))
    return Measurement(MeasurementState.MEASURED, samples, 21.0, step, (21.0 - step, 21.0 + 3 * step), calls=128)


def _report(suite: Suite, results: Sequence[OperatorResult]) -> Report:
    total = sum(result.score or 0.0 for result in results)
    return Report(
        evaluation="20261130-140500-5eed",
        suite=suite.name,
        suite_version=suite.version,
        suite_digest=suite.digest,
        hidden_digest=suite.hidden_digest,
        hardware="cpu",
        anchors_version="2026-11-30.1",
        rules_version="1",
        limit_preset="roofline",
        started_at="2026-11-30T14:05:00+00:00",
        finished_at="2026-11-30T14:09:12+00:00",
        trusted=True,
        timed=True,
        verdict=Verdict.ACCEPTED,
        build_seconds=18.4,
        build_log=BUILD_LOG,
        message="",
        environment={
            "judge": "0.1.0",
            "device": PEAKS.cpu_model,
            "threads": "2",
            "torch": "2.13.0+cpu",
            "python": "3.11.2",
        },
        operators=tuple(results),
        level_scores={"L1": total},
        total_score=total,
    )
