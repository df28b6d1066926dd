from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.web import figures


def test_scores_have_one_decimal_and_hap_two() -> None:
    assert figures.score(61.349) == "61.3"
    assert figures.hap(0.7149) == "0.71"


@pytest.mark.parametrize("value", [None, float("nan"), float("inf")])
def test_what_is_no_figure_is_a_dash(value: float | None) -> None:
    assert figures.score(value) == figures.hap(value) == figures.microseconds(value) == figures.ratio(value) == "–"


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0.12345, "0.123"),
        (1.0, "1.00"),
        (9.996, "10.0"),
        (47.26, "47.3"),
        (123.4, "123"),
        (12345.6, "12\u2009300"),
        (0.0, "0"),
    ],
)
def test_times_have_three_significant_figures_with_thin_spaces(value: float, written: str) -> None:
    assert figures.microseconds(value) == written


def test_times_show_no_more_digits_than_their_interval_allows() -> None:
    assert figures.microseconds(47.26, (47.2, 47.3)) == "47.3"
    assert figures.microseconds(47.26, (43.0, 51.0)) == "47"
    assert figures.microseconds(1234.0, (700.0, 1600.0)) == "1\u2009200"
    assert figures.microseconds(3.2, (1.0, 900.0)) == "3"
    assert figures.microseconds(553.0, (400.0, 640.0)) == "550"
    assert figures.microseconds(34.9, (34.0, 74.6)) == "35", "30 would lie outside"


@given(st.floats(0.001, 1e6), st.floats(0, 1), st.floats(0, 100))
def test_a_written_time_is_within_three_figures_of_its_value_or_inside_its_interval(
    value: float, below: float, above: float
) -> None:
    low, high = value * (1 - below), value * (1 + above)
    written = float(figures.microseconds(value, (low, high)).replace("\u2009", ""))
    assert low <= written <= high or written == pytest.approx(value, rel=0.0051)


def test_moments_are_written_in_utc_whatever_their_zone() -> None:
    noon = datetime(2026, 11, 30, 22, 5, 9, tzinfo=timezone(timedelta(hours=8)))
    assert figures.moment(noon) == "2026-11-30 14:05 UTC"
    assert figures.day(noon) == "2026-11-30"
    assert figures.clock(datetime(2026, 11, 30, 14, 5, 9)) == "14:05:09"
    assert figures.in_utc(noon).tzinfo is UTC


@pytest.mark.parametrize(
    ("seconds", "written"),
    [(0.4, "0 s"), (59, "59 s"), (60, "1 min"), (200, "3 min 20 s"), (3600, "1 h"), (90_000, "1 d 1 h"), (-5, "0 s")],
)
def test_durations_have_their_two_largest_units(seconds: float, written: str) -> None:
    assert figures.duration(seconds) == written


@pytest.mark.parametrize(
    ("size", "written"),
    [(0, "0 B"), (1023, "1023 B"), (18_432, "18.0 KiB"), (300 * 1024, "300 KiB"), (5 << 30, "5.0 GiB")],
)
def test_sizes_have_a_fitting_unit(size: int, written: str) -> None:
    assert figures.file_size(size) == written
