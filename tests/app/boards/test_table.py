"""Ranking, pinned rows, cursors and exports: pure functions."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.boards import cursor
from app.boards.errors import CursorInvalid
from app.boards.export import inert
from app.boards.repository import Origin, RunFlag, Stand
from app.boards.schemas import Badge, PinnedKind
from app.boards.table import badges_of, filtered_levels, level_maxima, pinned_rows, ranked_rows

T0 = datetime(2026, 11, 30, tzinfo=UTC)
LEVELS = {"exp": "L1", "gelu": "L1", "sort": "L2"}


def stand(entry: int, operator: str, score: float) -> Stand:
    return Stand(entry, operator, score, 0.1, entry, T0 + timedelta(hours=entry))


def origins(*entries: int) -> dict[int, Origin]:
    return {entry: Origin(entry, 1, f"HB-X-2026-{entry:06d}", T0 + timedelta(minutes=entry)) for entry in entries}


def test_rows_are_ranked_by_plain_sums() -> None:
    stands = [stand(1, "exp", 80), stand(1, "sort", 10), stand(2, "gelu", 99.5), stand(3, "exp", 90)]
    rows = ranked_rows(stands, LEVELS, origins(1, 2, 3))
    assert [(row.rank, row.entry_id, row.total) for row in rows] == [(1, 2, 99.5), (2, 1, 90), (2, 3, 90)]
    assert rows[1].levels == {"L1": 80, "L2": 10}


def test_filters_leave_operators_out_of_the_sum() -> None:
    stands = [stand(1, "exp", 80), stand(1, "sort", 10), stand(2, "sort", 20)]
    only = filtered_levels(LEVELS, "L2", None)
    assert [(row.entry_id, row.total) for row in ranked_rows(stands, only, origins(1, 2))] == [(2, 20), (1, 10)]
    assert filtered_levels(LEVELS, None, "exp") == {"exp": "L1"}
    assert filtered_levels(LEVELS, "L2", "exp") == {}


def test_the_pinned_rows_are_75_and_100_per_operator() -> None:
    limit, baseline = pinned_rows(LEVELS)
    assert (limit.kind, limit.total, limit.levels) == (PinnedKind.LIMIT, 300, {"L1": 200, "L2": 100})
    assert (baseline.kind, baseline.total, baseline.levels) == (PinnedKind.BASELINE, 225, {"L1": 150, "L2": 75})
    assert level_maxima(list(LEVELS.values())) == {"L1": 200, "L2": 100}


def test_badges_are_words_for_flags_on_what_stands() -> None:
    standing = stand(1, "exp", 80)

    def badges(operator: str, flag: str, severity: str) -> list[Badge]:
        return badges_of([standing], {1: [RunFlag(1, operator, flag, severity)]})

    assert badges("exp", "faster_than_limit", "review") == [Badge.PROVISIONAL]
    assert badges("gelu", "faster_than_limit", "review") == []
    assert badges("gelu", "known_output_mismatch", "hold") == [Badge.UNDER_REVIEW]
    assert badges("exp", "opaque_binary", "note") == [Badge.OPAQUE_BINARY]
    assert badges("exp", "source_hint", "note") == []


@given(st.floats(0, 5300), st.integers(1, 10**9), st.integers(0, 10**6))
def test_cursors_read_back(total: float, entry: int, seconds: int) -> None:
    key = cursor.row_key(total, T0 + timedelta(seconds=seconds), entry)
    assert cursor.read(cursor.written(key)) == key


@pytest.mark.parametrize("text", ["", "x", "!!!", "e30", "WzEsMl0", "WzEsICIyMDI2LTAxLTAxIiwgMV0"])
def test_a_strange_cursor_is_refused(text: str) -> None:
    with pytest.raises(CursorInvalid):
        cursor.read(text)


@given(st.lists(st.tuples(st.sampled_from([10.0, 20.0, 20.0004, 30.0]), st.integers(0, 3)), min_size=1, max_size=30))
def test_pages_neither_repeat_nor_skip(rows: list[tuple[float, int]]) -> None:
    stands = [stand(number, "exp", total) for number, (total, _) in enumerate(rows, start=1)]
    found = {
        number: Origin(number, 1, "x", T0 + timedelta(minutes=minutes))
        for number, (_, minutes) in enumerate(rows, start=1)
    }
    table = ranked_rows(stands, LEVELS, found)
    keys = [cursor.row_key(row.total, row.received_at, row.entry_id) for row in table]
    assert keys == sorted(set(keys))


@pytest.mark.parametrize("text", ["=1+1", "+x", "-x", "@x", "\tx"])
def test_no_spreadsheet_takes_a_name_for_a_formula(text: str) -> None:
    written = io.StringIO()
    csv.writer(written).writerow([inert(text)])
    (row,) = csv.reader(io.StringIO(written.getvalue()))
    assert row[0].startswith("'")
    assert inert("plain") == "plain"
