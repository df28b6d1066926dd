"""A report in its four forms."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from importlib import resources

import jsonschema
import pytest

from kernel_eval.commands.closing import closing
from kernel_eval.errors import UsageError
from kernel_eval.model import Measurement
from kernel_eval.report import (
    report_from_json,
    report_to_html,
    report_to_json,
    report_to_markdown,
    report_to_plain,
    summarise,
)
from kernel_eval.report.schema import report_schema
from kernel_eval.timing.statistics import measurement_of
from tests.factories.reports import full_report

VOID = {"meta", "br", "hr", "img", "link", "line", "rect", "circle"}


def checked_in_schema() -> dict[str, object]:
    text = resources.files("kernel_eval.report").joinpath("report.schema.json").read_text("utf-8")
    schema: dict[str, object] = json.loads(text)
    return schema


def test_the_checked_in_schema_is_the_one_of_the_model() -> None:
    assert checked_in_schema() == report_schema()


def test_a_report_fits_its_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(checked_in_schema())
    jsonschema.validate(json.loads(report_to_json(full_report())), checked_in_schema())


@pytest.mark.parametrize("spoil", [{"verdict": "fine"}, {"operators": None}, {"total_score": "high"}, {"extra": 1}])
def test_the_schema_refuses_what_is_no_report(spoil: dict[str, object]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**report_to_plain(full_report()), **spoil}, checked_in_schema())


def test_json_brings_back_the_same_report() -> None:
    report = full_report()
    again = report_from_json(report_to_json(report))
    assert repr(again) == repr(report), "repr, for NaN differs from itself"
    clean = replace(report, operators=())
    assert report_from_json(report_to_json(clean)) == clean


def test_json_holds_no_number_that_json_lacks() -> None:
    json.loads(report_to_json(full_report()), parse_constant=pytest.fail)


def test_the_summary_has_the_figures_people_ask_for() -> None:
    summary = summarise(full_report())
    assert (summary.total_operators, summary.total_cases, summary.total_passed) == (1, 3, 2)
    assert summary.overall_geometric_mean_speedup == pytest.approx((2.0 * 9.0) ** 0.5)
    assert report_to_plain(full_report())["summary"]["overall_geometric_mean_speedup"] == pytest.approx(18**0.5)


def test_a_report_without_cases_has_a_summary_too() -> None:
    summary = summarise(replace(full_report(), operators=()))
    assert summary.pass_rate == 0.0
    assert summary.overall_geometric_mean_speedup is None


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("{", "not JSON"),
        ("[]", "not a report"),
        ('{"format": "kernel-eval report 1"}', "evaluation is missing"),
    ],
)
def test_what_is_no_report_is_refused_by_name(text: str, named: str) -> None:
    with pytest.raises(UsageError, match=named):
        report_from_json(text)


def test_a_wrong_value_is_named_with_its_place() -> None:
    plain = report_to_plain(full_report())
    plain["operators"][0]["cases"][1]["verdict"] = "splendid"
    with pytest.raises(UsageError, match=r"operators\[0\].cases\[1\].verdict"):
        report_from_json(json.dumps(plain))


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag


def test_the_page_is_well_formed_and_self_contained() -> None:
    page = report_to_html(full_report())
    tags = _Tags()
    tags.feed(page)
    assert tags.open == []
    assert {"svg", "table", "style"} <= set(tags.seen)
    assert not {"script", "link", "img", "iframe"} & set(tags.seen), "what the candidate wrote stays text"
    assert not re.search(r"https?://|url\(|@import", page)


def test_the_page_shows_score_operators_and_cases() -> None:
    page = report_to_html(full_report())
    for shown in ("65.00", "exp", "wrong_values", "HAP 0.75", "known_output_mismatch"):
        assert shown in page
    assert "untrusted" in report_to_html(replace(full_report(), trusted=False))


def test_markdown_tables_keep_their_columns_whatever_a_candidate_wrote() -> None:
    text = report_to_markdown(full_report())
    tables = re.findall(r"(?:^\|.*\n?)+", text, flags=re.MULTILINE)
    assert len(tables) >= 3
    for table in tables:
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in table.strip().splitlines()}
        assert len(widths) == 1, table
    assert "<script" not in re.sub(r"```.*?```", "", text, flags=re.DOTALL)


def control_of(samples_us: tuple[float, ...]) -> Measurement:
    return measurement_of(samples_us, 128, 0)


@pytest.mark.parametrize(
    ("samples_us", "inconclusive", "said"),
    [
        ((20.0, 20.2, 19.9, 20.1, 35.0), False, "steady: half of a control kernel's times lay within ±0.5 %"),
        ((20.0, 20.5, 19.5), False, "steady: half of a control kernel's times lay within ±2.5 %"),
        ((20.0, 24.0, 17.0, 30.0), True, "inconclusive: half of a control kernel's times lay within"),
        ((20.0, 20.0), True, "inconclusive: too few cases were timed"),
    ],
)
def test_a_report_says_whether_its_host_was_steady(
    samples_us: tuple[float, ...], inconclusive: bool, said: str
) -> None:
    report = replace(full_report(), timed=True, control=control_of(samples_us))
    plain = report_to_plain(report)["summary"]
    assert (report.inconclusive, plain["inconclusive"]) == (inconclusive, inconclusive)
    assert said in report_to_markdown(report)
    assert ("Times are inconclusive" in report_to_html(report)) is inconclusive
    assert said in closing(report, [])


def test_without_times_nothing_is_said_of_the_host() -> None:
    report = replace(full_report(), control=None)
    assert not report.inconclusive
    assert "inconclusive" not in report_to_markdown(report) + report_to_html(report) + closing(report, [])
