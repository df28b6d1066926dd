"""The pictures: real XML, right places, nothing that a strict policy would refuse."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from markupsafe import Markup

from app.web.svg.case_strip import StripRow, case_strip
from app.web.svg.heat_map import HeatCell, HeatRow, heat_map
from app.web.svg.level_bars import LevelScore, level_bars
from app.web.svg.scale import LogScale, hap_class, log_scale
from app.web.svg.three_axis import ThreeAxis, three_axis_bar

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "</text><script>alert(1)</script>\"'&"


def same(message: str) -> str:
    return message


def parsed(picture: Markup) -> ElementTree.Element:
    root = ElementTree.fromstring(picture)
    assert root.tag == f"{SVG}svg"
    assert root.find(f"{SVG}title") is not None
    assert not [node for node in root.iter() if "style" in node.attrib or node.tag == f"{SVG}script"]
    return root


def widths(root: ElementTree.Element, class_: str) -> list[float]:
    return [float(node.attrib["width"]) for node in root.iter(f"{SVG}rect") if node.attrib.get("class") == class_]


def test_the_three_axis_bar_is_as_long_as_its_points_and_shows_what_is_missing() -> None:
    root = parsed(three_axis_bar(ThreeAxis(20.0, 27.0, 25.0), same))
    assert widths(root, "axis-compile") == [40.0]
    assert widths(root, "axis-correct") == [54.0]
    assert widths(root, "axis-performance") == [50.0]
    assert widths(root, "axis-missing") == [40.0, 60.0, 100.0]
    assert root.attrib["aria-label"] == "Compile 20.0 of 20, correct 27.0 of 30, performance 25.0 of 50"


def test_an_approved_performance_above_the_limit_grows_beyond_the_frame() -> None:
    inside = parsed(three_axis_bar(ThreeAxis(20.0, 30.0, 50.0), same))
    beyond = parsed(three_axis_bar(ThreeAxis(20.0, 30.0, 56.0), same))
    assert widths(beyond, "axis-over") == [12.0]
    assert float(beyond.attrib["width"]) > float(inside.attrib["width"])


def test_an_unpublished_operator_has_an_empty_bar_and_no_zero() -> None:
    root = parsed(three_axis_bar(ThreeAxis(None, None, None), same))
    assert widths(root, "axis-compile") == widths(root, "axis-performance") == []
    assert "–" in root.attrib["aria-label"]


def test_level_bars_are_as_long_as_their_maxima_so_filled_lengths_add_up_to_the_total() -> None:
    maxima = (("L1", 800.0), ("L2", 1600.0), ("L3", 2100.0), ("L4", 800.0))
    root = parsed(level_bars([LevelScore(level, most / 2, most) for level, most in maxima], same))
    whole, filled = widths(root, "level-missing"), widths(root, "level-reached")
    assert [round(width / whole[0], 2) for width in whole] == [1.0, 2.0, 2.62, 1.0]
    assert sum(filled) == pytest.approx(sum(whole) / 2, abs=0.05)


def test_a_level_without_operators_is_left_out() -> None:
    root = parsed(level_bars([LevelScore("L1", 600.0, 800.0), LevelScore("L2", 0.0, 0.0)], same))
    assert len(widths(root, "level-missing")) == 1
    assert level_bars([], same) == ""


def test_the_log_axis_keeps_its_ends_and_its_ticks() -> None:
    scale = LogScale(1.0, 100.0, 10.0, 200.0)
    assert scale.position(1.0) == 10.0
    assert scale.position(10.0) == pytest.approx(110.0)
    assert scale.position(0.001) == 10.0
    assert scale.position(1e9) == 210.0
    assert scale.ticks() == (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
    assert LogScale(1.0, 1e5, 0.0, 1.0).ticks() == (1.0, 10.0, 100.0, 1e3, 1e4, 1e5)


def test_an_axis_without_a_usable_value_still_stands() -> None:
    assert log_scale([float("nan"), -1.0, 0.0], 0.0, 100.0).ticks()


def strip_row(label: str, size: int, **changes: object) -> StripRow:
    values = {
        "limit_us": 10.0, "baseline_us": 40.0, "candidate_us": 20.0, "interval_us": (19.0, 21.0), "hap": 0.75,
        "glyph": "✓", "word": "accepted", "accepted": True, **changes,
    }  # fmt: skip
    return StripRow(label=label, size=size, **values)  # type: ignore[arg-type]


def test_the_case_strip_has_limit_candidate_and_baseline_in_their_order_on_one_axis() -> None:
    root = parsed(case_strip("times", [strip_row("#1", 5)], same))
    limit = next(node for node in root.iter(f"{SVG}line") if node.attrib.get("class") == "limit-tick")
    base = next(node for node in root.iter(f"{SVG}line") if node.attrib.get("class") == "baseline-tick")
    dot = next(root.iter(f"{SVG}circle"))
    assert float(limit.attrib["x1"]) < float(dot.attrib["cx"]) < float(base.attrib["x1"])
    assert dot.attrib["class"] == "dot hap-8"
    assert "20" in "".join(root.itertext())


def test_cases_are_sorted_by_size_and_a_failed_one_has_a_glyph_and_a_word_instead_of_a_dot() -> None:
    failed = strip_row(
        "#7", 1, accepted=False, glyph="▲", word="crashed", candidate_us=None, interval_us=None, hap=None
    )
    root = parsed(case_strip("times", [strip_row("#1", 500), failed], same))
    labels = [node.text for node in root.iter(f"{SVG}text") if node.attrib.get("class") == "label"]
    assert labels == ["#7", "#1"]
    assert len(list(root.iter(f"{SVG}circle"))) == 1
    assert {"▲", "crashed"} <= {node.text for node in root.iter(f"{SVG}text")}


def test_hostile_labels_stay_text() -> None:
    root = parsed(case_strip(HOSTILE, [strip_row(HOSTILE, 5)], same))
    assert HOSTILE in [node.text for node in root.iter(f"{SVG}text")]
    row = HeatRow("L1", HOSTILE, (HeatCell(0.5, "", HOSTILE, "/x"),))
    parsed(heat_map(HOSTILE, [HOSTILE], [row], same))


def test_one_cell_of_the_heat_map_takes_the_tab_stop_and_each_says_a_sentence() -> None:
    cells = (HeatCell(0.9, "", "exp, A: HAP 0.90", "/a#exp"), HeatCell(None, "–", "exp, B: not attempted", None))
    root = parsed(heat_map("map", ["1 A", "2 B"], [HeatRow("L1", "exp", cells), HeatRow("L1", "mish", cells)], same))
    assert sum(node.attrib.get("role") == "gridcell" for node in root.iter()) == 4
    found = [node for node in root.iter() if node.attrib.get("class") == "cell"]
    assert [node.attrib["tabindex"] for node in found] == ["0", "-1", "-1", "-1"]
    assert [node.attrib["aria-label"] for node in found[:2]] == ["exp, A: HAP 0.90", "exp, B: not attempted"]
    assert root.attrib["role"] == "grid"


def test_names_of_many_columns_stand_at_a_slant_and_those_of_few_do_not() -> None:
    def slanted(count: int) -> list[str | None]:
        cells = tuple(HeatCell(0.5, "", "cell", None) for _ in range(count))
        root = parsed(heat_map("map", [f"{n} name" for n in range(count)], [HeatRow("L1", "exp", cells)], same))
        return [node.text for node in root.iter(f"{SVG}text") if node.attrib.get("transform", "").startswith("rotate")]

    assert slanted(5) == []
    assert slanted(20) == [f"{n} name" for n in range(20)]


@pytest.mark.parametrize(
    ("hap", "name"),
    [
        (None, "hap-none"),
        (float("nan"), "hap-none"),
        (-0.2, "hap-0"),
        (0.0, "hap-0"),
        (0.5, "hap-5"),
        (0.96, "hap-10"),
        (1.0, "hap-10"),
        (1.001, "hap-over"),
    ],
)
def test_a_hap_has_the_tone_of_its_tenth_and_another_above_the_limit(hap: float | None, name: str) -> None:
    assert hap_class(hap) == name
