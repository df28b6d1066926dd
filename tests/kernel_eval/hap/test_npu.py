from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel_eval.errors import UsageError
from kernel_eval.hap import HARDWARE, MODEL_VERSION, npu_limit, work_of
from kernel_eval.model import UNITS, Bottleneck

from .conftest import LEVEL1, new_case

CHIPS = [(chip.name, preset) for chip in HARDWARE.values() for preset in chip.presets]


@pytest.mark.parametrize(("hardware", "preset"), CHIPS)
def test_a_limit_carries_all_six_units_its_label_preset_and_version(hardware: str, preset: str) -> None:
    limit = npu_limit(new_case("exp", ((4096, 4096),)), hardware, preset)
    assert tuple(limit.units_us) == UNITS
    assert (limit.preset, limit.model_version, limit.bottleneck) == (preset, MODEL_VERSION, Bottleneck.MTE)
    assert limit.limit_us >= max(limit.units_us.values())


def test_reads_bound_a_streaming_operator() -> None:
    # 64 Mi elements of 4 bytes at 1.92 TB/s
    limit = npu_limit(new_case("exp", ((8192, 8192),)), "910b2", "compat")
    assert limit.limit_us == pytest.approx(8192 * 8192 * 4 / 1.92e6)


def test_vector_work_bounds_a_cheap_read() -> None:
    limit = npu_limit(new_case("sigmoid", ((8192, 8192),), "bfloat16"), "910b2", "compat")
    assert limit.bottleneck is Bottleneck.VECTOR
    assert limit.limit_us == pytest.approx(8192 * 8192 * 10 / 6e6)


def test_writes_beyond_the_cache_go_at_the_rate_of_memory() -> None:
    limit = npu_limit(new_case("exp", ((8192, 8192),)), "910b2", "compat")
    assert limit.units_us["mte3"] == pytest.approx(192 / 6.4 + (8192 * 8192 * 4 / 1e6 - 192) / 1.92)


def test_documented_rates_share_one_bus_once_the_output_spills() -> None:
    limit = npu_limit(new_case("exp", ((8192, 8192),)), "910b2", "spec")
    size = 8192 * 8192 * 4
    assert limit.limit_us == pytest.approx((size + size - 192 * 2**20) / 1.6e6)


@pytest.mark.parametrize("shape", [(1,), (0, 5), ()])
def test_the_smallest_cases_stand_at_the_floor(shape: tuple[int, ...]) -> None:
    assert npu_limit(new_case("mish", (shape,)), "910b2", "compat").limit_us == 1.0


@pytest.mark.parametrize(
    ("hardware", "preset", "message"),
    [("910c", "compat", "unknown hardware '910c'.*910b2, 950pr"), ("910b2", "fast", "unknown preset 'fast'.*compat")],
)
def test_unknown_hardware_or_preset_is_an_error_that_names_the_known_ones(hardware, preset, message) -> None:
    with pytest.raises(UsageError, match=message):
        npu_limit(new_case("exp", ((2,),)), hardware, preset)


def test_every_number_of_every_table_names_its_source() -> None:
    figures = [
        figure
        for chip in HARDWARE.values()
        for preset in chip.presets.values()
        for figure in (
            preset.floor_us,
            preset.read,
            preset.write_near,
            preset.near_bytes,
            preset.write_far,
            *preset.vector.values(),
        )
    ]
    assert len(figures) == 4 * 8
    assert all(figure.value > 0 and len(figure.source) > 10 for figure in figures)


@given(rows=st.integers(1, 3000), more=st.integers(0, 3000), operator=st.sampled_from(LEVEL1))
def test_more_elements_never_lower_a_limit(rows: int, more: int, operator: str) -> None:
    for hardware, preset in CHIPS:
        small, large = (npu_limit(_square(operator, size), hardware, preset) for size in (rows, rows + more))
        assert small.limit_us <= large.limit_us


@given(rows=st.integers(1, 20000), operator=st.sampled_from(LEVEL1))
def test_documented_limits_respect_the_memory_rate(rows: int, operator: str) -> None:
    case = _square(operator, rows)
    work = work_of(case)
    spilled = max(0, work.write_bytes - 192 * 2**20)
    assert npu_limit(case, "910b2", "spec").limit_us >= (work.read_bytes + spilled) / 1.6e6 * 0.999


def _square(operator: str, rows: int):
    shape = (rows, 2048)
    if operator.startswith("foreach"):
        return new_case(operator, ((shape,),) * (3 if operator == "foreach_addcdiv_scalar" else 1), scalar=1.0)
    return new_case(operator, (shape, shape) if operator == "masked_scale" else (shape,))
