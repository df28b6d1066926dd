"""Plans of timed batches: counts, orders, limits."""

from __future__ import annotations

import random

import pytest

from kernel_eval.timing.plan import (
    CALL_CEILING,
    POOL_BYTES,
    Plan,
    batch_limit_s,
    expected_us,
    make_plan,
    place_known,
    play_order,
    pool_count,
)

MIB = 1 << 20
LLC = 32 * MIB


def test_a_memory_bound_case_gets_four_caches_of_buffers() -> None:
    assert pool_count(1000.0, 8 * MIB, LLC) == 16


def test_a_slow_call_with_little_data_gets_five_milliseconds() -> None:
    assert pool_count(2500.0, 64 << 10, LLC) == 8, "the cache's share stops at 20 ms"
    assert pool_count(50_000.0, 64 << 10, LLC) == 2


def test_no_pool_exceeds_its_bytes_but_two_buffers_are_the_least() -> None:
    for size in (1 * MIB, 10 * MIB, 100 * MIB):
        assert pool_count(1.0, size, 1 << 40) * size <= POOL_BYTES
    assert pool_count(1.0, POOL_BYTES, LLC) == 2


def test_tiny_calls_are_capped_in_number() -> None:
    assert pool_count(3.0, 16, LLC) == CALL_CEILING
    assert pool_count(0.0, 0, LLC) == CALL_CEILING


def test_large_cases_have_two_known_buffers_and_small_ones_four() -> None:
    assert make_plan(128 * MIB, LLC).known == make_plan(128 * MIB, LLC).count == 2
    assert make_plan(1 * MIB, LLC).known == 4


def test_a_pool_of_a_mid_size_case_lies_beyond_the_cache() -> None:
    for size in (256 << 10, 1 * MIB, 2 * MIB, 16 * MIB):
        assert make_plan(size, LLC).pool_bytes >= 4 * LLC


def test_the_estimate_grows_with_the_bytes() -> None:
    assert expected_us(0) < expected_us(MIB) < expected_us(64 * MIB)


def test_known_inputs_lie_anywhere_in_the_pool() -> None:
    randomness = random.Random(7)
    places = [place_known(Plan(40, 4, 1), randomness) for _ in range(400)]
    assert all(len(set(drawn)) == 4 for drawn in places)
    counts = [sum(index in drawn for drawn in places) for index in range(40)]
    assert min(counts) > 15
    assert max(counts) < 75


PLACES = (17, 3, 30, 8)


@pytest.mark.parametrize("length", [None, 1, 3, 20])
def test_every_order_ends_with_a_known_input_and_repeats_none(length: int | None) -> None:
    randomness = random.Random(5)
    orders = {play_order(Plan(40, 4, 1), PLACES, randomness, length) for _ in range(50)}
    assert len(orders) > (3 if length in (1, 3) else 20)
    for order in orders:
        assert len(set(order)) == len(order) == (length or 40)
        assert order[-1] in PLACES
        assert set(order) <= set(range(40))


def test_a_full_order_plays_every_buffer_and_a_short_one_keeps_the_known() -> None:
    plan, places = Plan(10, 4, 1), (9, 2, 5, 0)
    randomness = random.Random(1)
    assert sorted(play_order(plan, places, randomness)) == list(range(10))
    assert set(places) <= set(play_order(plan, places, randomness, 5))


def test_each_known_input_stands_last_as_often_as_another() -> None:
    randomness = random.Random(2)
    last = [play_order(Plan(40, 4, 1), PLACES, randomness)[-1] for _ in range(400)]
    assert all(70 < last.count(index) < 130 for index in PLACES)


def test_a_batch_may_take_ten_seconds_or_twenty_baselines() -> None:
    assert batch_limit_s(100.0, 10) == 10.0
    assert batch_limit_s(100_000.0, 100) == pytest.approx(200.0)
