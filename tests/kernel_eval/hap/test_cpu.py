from __future__ import annotations

from pathlib import Path

import pytest

from kernel_eval.hap import CPU_PRESET, Work, cpu_limit, pool_bytes_per_s
from kernel_eval.hap.cpu import CPU_FLOOR_US, write_s
from kernel_eval.model import Bottleneck, Level, Operator, TensorSpec

from .conftest import new_case, new_peaks

MIB = 2**20


def operator(name: str) -> Operator:
    return Operator(name, name, name, Level.L1, "", "", (), (), (), Path())


def test_reads_and_writes_share_the_memory() -> None:
    case = new_case("exp", ((1024, 1024),))
    limit = cpu_limit(operator("exp"), case, new_peaks(), 256 * MIB)
    assert limit.limit_us == pytest.approx(8 * MIB / 20e3)
    assert limit.units_us["mte2"] == limit.units_us["mte3"] == pytest.approx(limit.limit_us / 2)
    assert (limit.bottleneck, limit.preset) == (Bottleneck.MTE, CPU_PRESET)


def test_operations_bound_where_the_arithmetic_is_slow() -> None:
    peaks = new_peaks(vector_ops={"b16": 1e9, "b32": 1e9, "b64": 1e9})
    limit = cpu_limit(operator("sigmoid"), new_case("sigmoid", ((1000, 1000),)), peaks, 256 * MIB)
    assert limit.bottleneck is Bottleneck.VECTOR
    assert limit.limit_us == pytest.approx(2e6 / 1e3)


@pytest.mark.parametrize(
    ("pool_bytes", "expected"),
    [
        (256 * MIB, 20e9),
        (128 * MIB, 20e9),
        (128 * MIB - 1, 60e9),
        (4 * MIB, 60e9),
        (4 * MIB - 1, 150e9),
        (256 * 2**10, 150e9),
        (100 * 2**10, 400e9),
    ],
)
def test_a_pool_is_held_to_the_fastest_level_it_could_lie_in(pool_bytes: int, expected: float) -> None:
    assert pool_bytes_per_s(new_peaks(), pool_bytes) == expected


def test_an_empty_case_stands_at_the_floor() -> None:
    assert cpu_limit(operator("mish"), new_case("mish", ((0,),)), new_peaks(), MIB).limit_us == CPU_FLOOR_US


@pytest.mark.parametrize("pool_bytes", [0, -1])
def test_a_pool_of_nothing_is_refused(pool_bytes: int) -> None:
    with pytest.raises(ValueError, match="can't be timed"):
        cpu_limit(operator("exp"), new_case("exp", ((2,),)), new_peaks(), pool_bytes)


def test_a_case_of_another_operator_is_refused() -> None:
    with pytest.raises(ValueError, match="no case of gelu"):
        cpu_limit(operator("gelu"), new_case("exp", ((2,),)), new_peaks(), MIB)


def test_what_is_written_beyond_the_reads_goes_at_the_rate_of_writing_alone() -> None:
    # one scalar in, a million floats out: no operator of level 1, but the rule is the model's
    work = Work((TensorSpec("float32", ()),), (TensorSpec("float32", (1000, 1000)),), ())
    assert write_s(work, 20e9, new_peaks()) == pytest.approx(4 / 20e9 + (4e6 - 4) / 30e9)
