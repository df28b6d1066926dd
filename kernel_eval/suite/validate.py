"""Checking that a set of cases covers what it must (`judging.md` section 2)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from kernel_eval.errors import Fault, SuiteInvalid
from kernel_eval.model import (
    ITEM_BYTES,
    Case,
    Operator,
    RangeKind,
    Shape,
    Split,
    Suite,
    ValueRange,
    element_count,
    tensor_shapes,
)
from kernel_eval.suite.generate import CATEGORY_SHARES, one_point
from kernel_eval.suite.loader import load_space
from kernel_eval.suite.shapes import ALIGNED_BYTES, ELEMENTS, Regime, is_prime
from kernel_eval.suite.space import CaseSpace, Category

LEAST_NON_ALIGNED = 0.5
LEAST_PRIME_OF_NON_ALIGNED = 0.5
LARGEST_DEGENERATE = 0.1
_EXPONENT_BOUNDARY = (87.0, 89.0)


def validate_suite(suite: Suite) -> None:
    """Check the cases of every operator, public and hidden; raises `SuiteInvalid` with all faults."""
    faults: list[Fault] = []
    for operator in suite.operators:
        space = load_space(operator)
        for split in Split:
            cases = [case for case in suite.cases_of(operator.name) if case.split is split]
            if cases:
                faults.extend(coverage_faults(operator, space, cases))
        faults.extend(_shared(operator, suite.cases_of(operator.name)))
    if faults:
        raise SuiteInvalid(faults)


def coverage_faults(operator: Operator, space: CaseSpace, cases: Sequence[Case]) -> list[Fault]:
    """What the cases of one split of one operator do not cover."""
    where = f"{operator.name}/{cases[0].split}"
    checks = (
        ("element_count", _element_counts(cases)),
        ("regimes", _regimes(cases)),
        ("ranks", _ranks(space, cases)),
        ("dtypes", _dtypes(space, cases)),
        ("alignment", _alignment(cases)),
        ("attributes", _attributes(space, cases)),
        ("value_range", _value_ranges(cases)),
        ("degenerate", _degenerate(cases)),
        *((str(category), _category(category, cases)) for category in CATEGORY_SHARES),
    )
    return [
        Fault(f"coverage.{rule}", where, message)
        for rule, messages in checks
        if rule not in space.exemptions
        for message in messages
    ]


def category_of(ranges: Sequence[ValueRange]) -> Category:
    """The category that a case's value ranges belong to, by its first input."""
    first = ranges[0]
    if first.kind in (RangeKind.NAN, RangeKind.INF):
        return Category.SPECIAL
    if first.kind is RangeKind.BOUNDARY:
        return Category.BOUNDARY
    if first.kind is RangeKind.ZERO or first.low == first.high == 0:
        return Category.ZERO
    if first.low != -first.high:
        return Category.ASYMMETRIC
    if _EXPONENT_BOUNDARY[0] <= first.high <= _EXPONENT_BOUNDARY[1]:
        return Category.BOUNDARY
    if first.high <= 3:
        return Category.SMALL
    return Category.MEDIUM if first.high <= 100 else Category.LARGE


def is_aligned(case: Case) -> bool:
    """Whether every tensor's innermost byte length is a multiple of 512."""
    return all((shape[-1] if shape else 1) * ITEM_BYTES[dtype] % ALIGNED_BYTES == 0 for shape, dtype in _tensors(case))


def has_prime_size(case: Case) -> bool:
    """Whether some size is a prime above 3, or twice such a prime."""
    return any(
        is_prime(part) and part > 3 for shape, _ in _tensors(case) for size in shape for part in (size, size // 2)
    )


def _tensors(case: Case) -> Iterator[tuple[Shape, str]]:
    for entry, dtype in zip(case.shapes, case.dtypes, strict=True):
        for shape in tensor_shapes(entry):
            yield shape, dtype


def _element_counts(cases: Sequence[Case]) -> Iterable[str]:
    counts = Counter(map(element_count, cases))
    return [
        f"{count} elements occur in {times} cases; each count may occur once"
        for count, times in counts.items()
        if times > 1
    ]


def _regimes(cases: Sequence[Case]) -> Iterable[str]:
    middle = ELEMENTS[Regime.MEDIUM]
    sizes = Counter(
        Regime.SMALL if elements < middle[0] else Regime.LARGE if elements >= middle[1] else Regime.MEDIUM
        for elements in map(element_count, cases)
    )
    least = len(cases) // 6
    return [
        f"{sizes[regime]} {regime} cases, at least {least} are needed" for regime in Regime if sizes[regime] < least
    ]


def _ranks(space: CaseSpace, cases: Sequence[Case]) -> Iterable[str]:
    found = {len(shape) for case in cases for shape, _ in _tensors(case)}
    return [f"no tensor has rank {rank}" for rank in space.ranks if rank not in found]


def _dtypes(space: CaseSpace, cases: Sequence[Case]) -> Iterable[str]:
    found = {case.dtypes for case in cases}
    return [f"no case has the dtypes {', '.join(dtypes)}" for dtypes in space.dtypes if dtypes not in found]


def _alignment(cases: Sequence[Case]) -> Iterable[str]:
    loose = [case for case in cases if not is_aligned(case)]
    primes = sum(map(has_prime_size, loose))
    if len(loose) < LEAST_NON_ALIGNED * len(cases):
        yield f"{len(loose)} of {len(cases)} cases are non-aligned, at least half must be"
    if primes <= LEAST_PRIME_OF_NON_ALIGNED * len(loose):
        yield f"{primes} of {len(loose)} non-aligned cases have prime sizes, most must"


def _attributes(space: CaseSpace, cases: Sequence[Case]) -> Iterable[str]:
    """Combinations of attributes and dtypes are unique, or all used about equally where there are too few."""
    used = Counter((case.dtypes, repr(sorted(case.attributes.items()))) for case in cases)
    domain = _domain(space)
    allowed = 1 if domain is None else max(1, math.ceil(2 * len(cases) / domain))
    return [
        f"attributes {attributes} with {', '.join(dtypes)} occur in {times} cases, at most {allowed} may"
        for (dtypes, attributes), times in used.items()
        if times > allowed
    ]


def _domain(space: CaseSpace) -> int | None:
    """How many combinations of attributes and dtypes there are; None where an attribute varies continuously."""
    if any(attribute.between for attribute in space.attributes.values()):
        return None
    return len(space.dtypes) * math.prod(len(attribute.choices) for attribute in space.attributes.values())


def _value_ranges(cases: Sequence[Case]) -> Iterable[str]:
    used = Counter(case.value_ranges for case in cases if not one_point(case.value_ranges))
    return [f"value ranges {ranges} occur in {times} cases" for ranges, times in used.items() if times > 1]


def _degenerate(cases: Sequence[Case]) -> Iterable[str]:
    zero = sum(category_of(case.value_ranges) is Category.ZERO for case in cases)
    if zero > LARGEST_DEGENERATE * len(cases):
        yield f"{zero} of {len(cases)} cases are all zero, at most a tenth may be"


def _category(category: Category, cases: Sequence[Case]) -> Iterable[str]:
    if not any(category_of(case.value_ranges) is category for case in cases):
        yield f"no case has {category.replace('_', ' ')} values; add one, or write the exemption into proto.yaml"


def _shared(operator: Operator, cases: Sequence[Case]) -> Iterable[Fault]:
    drawn = {split: {(case.shapes, case.dtypes) for case in cases if case.split is split} for split in Split}
    for shapes, dtypes in drawn[Split.PUBLIC] & drawn[Split.HIDDEN]:
        yield Fault("coverage.shared", operator.name, f"{shapes} with {dtypes} is in the public and the hidden set")
