"""Costs counted by hand on shapes small enough to count."""

from __future__ import annotations

import math

import pytest

from kernel_eval.errors import UsageError
from kernel_eval.hap import Lanes, work_of

from .conftest import new_case

PAIR = (((2, 3), (5,)),)


@pytest.mark.parametrize(
    ("case", "read", "written", "calibrated", "lanes"),
    [
        # 6 elements of 4 bytes in and out; exponential 2, scale, shift and base 1 each
        (new_case("exp", ((2, 3),)), 24, 24, 12, Lanes.B32),
        (new_case("exp", ((2, 3),), scale=0.5), 24, 24, 18, Lanes.B32),
        (new_case("exp", ((2, 3),), scale=0.5, shift=1.0, base=2.0), 24, 24, 30, Lanes.B32),
        # 16-bit types are computed wide: 2 casts more
        (new_case("exp", ((2, 3),), "float16"), 12, 12, 24, Lanes.B32),
        # three lists of 11 elements in, one out; 3 operations; 4 casts for bfloat16 alone
        (new_case("foreach_addcdiv_scalar", PAIR * 3, scalar=1.0), 132, 44, 33, Lanes.B32),
        (new_case("foreach_addcdiv_scalar", PAIR * 3, "bfloat16", scalar=1.0), 66, 22, 77, Lanes.B32),
        (new_case("foreach_addcdiv_scalar", PAIR * 3, "float16", scalar=1.0), 66, 22, 33, Lanes.B16),
        # a list of two: two scalars out
        (new_case("foreach_norm", PAIR, scalar=2.0), 44, 8, 22, Lanes.B32),
        (new_case("foreach_norm", PAIR, scalar=-1.0), 44, 8, 22, Lanes.B32),
        (new_case("foreach_norm", PAIR, scalar=math.inf), 44, 8, 22, Lanes.B32),
        (new_case("foreach_norm", PAIR, scalar=3.0), 44, 8, 77, Lanes.B32),
        (new_case("foreach_norm", PAIR, "float16", scalar=3.0), 22, 4, 88, Lanes.B32),
        (new_case("gelu", ((6,),)), 24, 24, 36, Lanes.B32),
        (new_case("gelu", ((6,),), approximate="tanh"), 24, 24, 60, Lanes.B32),
        (new_case("gelu", ((6,),), "bfloat16"), 12, 12, 48, Lanes.B32),
        (new_case("mish", ((6,),), "float16"), 12, 12, 42, Lanes.B16),
        (new_case("sigmoid", ((6,),), "bfloat16"), 12, 12, 60, Lanes.B32),
        # the mask has its own width
        (new_case("masked_scale", ((6,), (6,)), ("float32", "int8")), 30, 24, 18, Lanes.B32),
        (new_case("masked_scale", ((6,), (6,))), 48, 24, 12, Lanes.B32),
        (new_case("masked_scale", ((6,), (6,)), ("bfloat16", "uint8")), 18, 12, 30, Lanes.B32),
        # half as many elements out
        (new_case("swi_glu", ((3, 4),)), 48, 24, 54, Lanes.B32),
        (new_case("swi_glu", ((4, 3),), "bfloat16", dim=0), 24, 12, 72, Lanes.B32),
        (new_case("swi_glu", ((4, 3),), dim=-2), 48, 24, 54, Lanes.B32),
        (new_case("sigmoid", ((0, 7),)), 0, 0, 0, Lanes.B32),
        (new_case("sigmoid", ((),)), 4, 4, 8, Lanes.B32),
    ],
    ids=lambda value: f"{value.operator}-{value.dtypes[0]}" if hasattr(value, "dtypes") else None,
)
def test_bytes_and_operations_are_those_counted_by_hand(case, read, written, calibrated, lanes) -> None:
    work = work_of(case)
    assert (work.read_bytes, work.write_bytes) == (read, written)
    assert sum(part.calibrated for part in work.vector) == calibrated
    assert [part.lanes for part in work.vector] == [lanes]
    assert sum(part.hard for part in work.vector) <= calibrated


@pytest.mark.parametrize(
    ("case", "message"),
    [
        (new_case("soft_min", ((2,),)), "no cost record for operator 'soft_min'.*swi_glu"),
        (new_case("exp", ((2, -3),)), "negative size"),
        (new_case("exp", ((2,),), "float12"), "unknown dtype 'float12'.*float16"),
        (new_case("exp", (None,)), "input 0 is missing"),
        (new_case("masked_scale", ((2,),)), "input 1 is missing"),
        (new_case("swi_glu", ((2, 3),)), "is odd"),
        (new_case("swi_glu", ((2, 4),), dim=2), "outside the 2 dimensions"),
        (new_case("exp", ((2,),), scale="much"), "attribute scale is 'much', not a number"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_an_impossible_case_is_named_in_one_line(case, message: str) -> None:
    with pytest.raises(UsageError, match=message) as refusal:
        work_of(case)
    assert "\n" not in str(refusal.value)
