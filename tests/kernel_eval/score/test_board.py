from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel_eval.model import Level
from kernel_eval.score import Row, level_totals, rank, total

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)


def row(name: str, points: float | None, minutes: int = 0) -> Row:
    return Row(name, points, NOON + timedelta(minutes=minutes))


def test_levels_and_total_are_plain_sums() -> None:
    levels = level_totals([(Level.L2, 50.0), (Level.L1, 75.0), (Level.L1, 20.5), (Level.L2, None)])
    assert levels == {Level.L1: 95.5, Level.L2: 50.0}
    assert list(levels) == [Level.L1, Level.L2]
    assert total(levels) == 145.5


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([], []),
        ([row("a", 10), row("b", 30), row("c", 20)], [(1, "b"), (2, "c"), (3, "a")]),
        # equal totals share a rank, earlier first, and leave the next rank free
        ([row("a", 30, 5), row("b", 30, 1), row("c", 20)], [(1, "b"), (1, "a"), (3, "c")]),
        # the same minute: by id
        ([row("b", 30), row("a", 30)], [(1, "a"), (1, "b")]),
        # equal to 0.001
        ([row("a", 30.0001), row("b", 30.0004, -1), row("c", 30.002)], [(1, "c"), (2, "b"), (2, "a")]),
        # unscored entries are never ranked; zero is a score
        ([row("a", None), row("b", 0.0)], [(1, "b")]),
    ],
)
def test_ranking_by_total_then_receipt_then_id(rows: list[Row], expected: list[tuple[int, str]]) -> None:
    assert [(placed.rank, placed.row.id) for placed in rank(rows)] == expected


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_total_that_is_no_number_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="can't be ranked"):
        rank([row("a", bad)])


ROWS = st.lists(
    st.builds(row, st.uuids().map(str), st.none() | st.integers(0, 30).map(float), st.integers(0, 3)),
    unique_by=lambda entry: entry.id,
)


@given(rows=ROWS, order=st.randoms(use_true_random=False))
def test_the_order_of_arrival_at_the_function_changes_nothing(rows: list[Row], order) -> None:
    shuffled = list(rows)
    order.shuffle(shuffled)
    assert rank(shuffled) == rank(rows)


@given(rows=ROWS)
def test_a_rank_is_one_more_than_the_number_of_better_entries(rows: list[Row]) -> None:
    totals = [entry.total for entry in rows if entry.total is not None]
    for placed in rank(rows):
        assert placed.rank == 1 + sum(other > placed.row.total for other in totals)
