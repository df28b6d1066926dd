"""Generated sets are deterministic, cover what they must, and the validator sees what they lack."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from kernel_eval.model import Case, RangeKind, Split, ValueRange, element_count
from kernel_eval.suite import default_bench_data, load_suite
from kernel_eval.suite.faults import FaultList
from kernel_eval.suite.generate import generate_cases
from kernel_eval.suite.loader import load_space
from kernel_eval.suite.shapes import Alignment, ShapePlan, draw_shape, is_prime, nearest_prime
from kernel_eval.suite.space import Category
from kernel_eval.suite.table import format_table, parse_table
from kernel_eval.suite.validate import category_of, coverage_faults, is_aligned

SUITE = load_suite(default_bench_data(), "cann-bench-small")
OPERATORS = [operator.name for operator in SUITE.operators]
SEEDS = [b"first", b"second", b"third"]
ZERO, PLAIN = ValueRange(RangeKind.ZERO), ValueRange(RangeKind.UNIFORM, -1, 1)


@pytest.mark.parametrize("name", OPERATORS)
def test_three_rounds_with_different_seeds_are_covered(name: str) -> None:
    from kernel_eval.suite.cover import covering_cases

    operator = SUITE.operator(name)
    space = load_space(operator)
    sets = [covering_cases(operator, space, Split.HIDDEN, 80, seed, SUITE.cases_of(name)) for seed in SEEDS]
    for cases in sets:
        assert len(cases) == 80
        assert not coverage_faults(operator, space, cases)
        assert not {(case.shapes, case.dtypes) for case in cases} & {
            (case.shapes, case.dtypes) for case in SUITE.cases_of(name)
        }
    assert sets[0] != sets[1] != sets[2] != sets[0]


@pytest.mark.parametrize("name", OPERATORS)
def test_the_same_seed_gives_the_same_set(name: str) -> None:
    operator, space = SUITE.operator(name), load_space(SUITE.operator(name))
    one, other = (format_table(generate_cases(operator, space, Split.HIDDEN, 30, b"seed")) for _ in range(2))
    assert one == other


@pytest.mark.parametrize("name", OPERATORS)
def test_a_table_is_read_back_unchanged(name: str) -> None:
    operator = SUITE.operator(name)
    cases = generate_cases(operator, load_space(operator), Split.HIDDEN, 40, b"any")
    faults = FaultList()
    assert repr(parse_table(format_table(cases), operator, Split.HIDDEN, "t", faults)) == repr(cases)
    assert not len(faults)


def test_sizes_stay_in_their_envelope() -> None:
    for case in SUITE.cases:
        assert 3_000 <= element_count(case) <= 600_000


Change = Callable[[Sequence[Case]], Sequence[Case]]


def first_shape_everywhere(cases: Sequence[Case]) -> list[Case]:
    return [replace(case, shapes=cases[0].shapes) for case in cases]


LACKS: list[tuple[str, Change]] = [
    ("element_count", first_shape_everywhere),
    ("ranks", first_shape_everywhere),
    ("alignment", lambda cases: [replace(case, shapes=((4, 512 + 512 * i),)) for i, case in enumerate(cases)]),
    ("alignment", lambda cases: [replace(case, shapes=((4, 513 + 12 * i),)) for i, case in enumerate(cases)]),
    ("regimes", lambda cases: [replace(case, shapes=((20_011 + i,),)) for i, case in enumerate(cases)]),
    ("dtypes", lambda cases: [replace(case, dtypes=("float16",)) for case in cases]),
    ("attributes", lambda cases: [replace(case, attributes=cases[0].attributes) for case in cases]),
    ("value_range", lambda cases: [replace(case, value_ranges=(PLAIN,)) for case in cases]),
    ("degenerate", lambda cases: [replace(case, value_ranges=(ZERO,)) for case in cases]),
    *(
        (
            str(category),
            lambda cases, category=category: [c for c in cases if category_of(c.value_ranges) is not category],
        )
        for category in Category
    ),
]


@pytest.mark.parametrize(("rule", "change"), LACKS)
def test_the_validator_names_what_a_set_lacks(rule: str, change: Change) -> None:
    operator, space = SUITE.operator("exp"), load_space(SUITE.operator("exp"))
    cases = SUITE.cases_of("exp")
    assert not coverage_faults(operator, space, cases)
    found = {fault.rule for fault in coverage_faults(operator, space, change(cases))}
    assert f"coverage.{rule}" in found
    exempt = replace(space, exemptions={rule: "a reason in words"})
    assert f"coverage.{rule}" not in {fault.rule for fault in coverage_faults(operator, exempt, change(cases))}


@pytest.mark.parametrize("alignment", list(Alignment))
@pytest.mark.parametrize("rank", [0, 1, 2, 3, 4, 5])
def test_drawn_shapes_are_as_planned(alignment: Alignment, rank: int) -> None:
    from random import Random

    for seed in range(60):
        shape = draw_shape(ShapePlan(rank, 20_000, alignment, 2), Random(seed))
        assert len(shape) == rank
        assert all(size > 0 for size in shape)
        if rank and alignment is Alignment.ALIGNED:
            assert shape[-1] * 2 % 512 == 0
        if rank and alignment is not Alignment.ALIGNED:
            assert shape[-1] % 2 == 1
        if alignment is Alignment.PRIME:
            assert all(map(is_prime, shape))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_halved_axis_is_even(axis: int) -> None:
    from random import Random

    for alignment in Alignment:
        shape = draw_shape(ShapePlan(3, 9_000, alignment, 4, even_axis=axis), Random(5))
        assert shape[axis] % 2 == 0


def test_primes() -> None:
    assert [number for number in range(30) if is_prime(number)] == [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]
    assert (nearest_prime(1), nearest_prime(24), nearest_prime(26), nearest_prime(90)) == (2, 23, 23, 89)


def test_a_case_is_aligned_only_where_every_tensor_is() -> None:
    case = SUITE.cases_of("masked_scale")[0]
    assert is_aligned(replace(case, shapes=((3, 512), (3, 512)), dtypes=("float16", "int8")))
    assert not is_aligned(replace(case, shapes=((3, 256), (3, 256)), dtypes=("float16", "int8")))
