"""The colours: enough contrast in both themes, and a HAP scale that colour-blind readers and grey print can tell."""

from __future__ import annotations

import re

import pytest

from app.web.site import frontend_folder

PAIR = re.compile(r"--([\w-]+):\s*light-dark\((#[0-9a-f]{6}),\s*(#[0-9a-f]{6})\)")
THEMES = ("light", "dark")
TEXTS = ("ink", "ink-soft", "ink-faint", "accent", "good", "warm", "bad", "hatch")
GROUNDS = ("paper", "raised", "sunken")
STEPS = range(11)
DEUTERANOPIA = ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881))
"""Linear RGB as a deuteranope sees it (Machado, Oliveira, Fernandes 2009, severity 1)."""


def tokens(theme: str) -> dict[str, str]:
    text = (frontend_folder() / "static/css/tokens.css").read_text("utf-8")
    return {name: (light, dark)[THEMES.index(theme)] for name, light, dark in PAIR.findall(text)}


def linear(colour: str) -> tuple[float, ...]:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    return tuple(part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)


def luminance(colour: str) -> float:
    red, green, blue = linear(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def as_deuteranope(colour: str) -> tuple[float, ...]:
    seen = linear(colour)
    return tuple(sum(factor * part for factor, part in zip(row, seen, strict=True)) for row in DEUTERANOPIA)


@pytest.mark.parametrize("theme", THEMES)
def test_text_has_a_contrast_of_at_least_4_5_on_every_ground(theme: str) -> None:
    found = tokens(theme)
    weak = {
        (text, ground): round(contrast(found[text], found[ground]), 2)
        for text in TEXTS
        for ground in GROUNDS
        if contrast(found[text], found[ground]) < 4.5
    }
    assert weak == {}


@pytest.mark.parametrize("theme", THEMES)
def test_text_on_tinted_grounds_and_buttons_can_be_read(theme: str) -> None:
    found = tokens(theme)
    pairs = [("ink", "accent-soft"), ("ink-soft", "accent-soft"), ("ink-faint", "accent-soft"), ("ink", "bad-soft"),
             ("ink-soft", "bad-soft"), ("bad", "bad-soft"), ("on-accent", "accent"),
             ("ink", "hatch-ground")]  # fmt: skip
    assert {
        pair: contrast(found[pair[0]], found[pair[1]])
        for pair in pairs
        if contrast(found[pair[0]], found[pair[1]]) < 4.5
    } == {}


@pytest.mark.parametrize("theme", THEMES)
def test_borders_of_fields_and_marks_of_charts_have_a_contrast_of_at_least_3(theme: str) -> None:
    found = tokens(theme)
    marks = ("rule-strong", "axis-compile", "axis-correct", "axis-performance", "hatch")
    assert {
        mark: contrast(found[mark], found["paper"]) for mark in marks if contrast(found[mark], found["paper"]) < 3
    } == {}


@pytest.mark.parametrize("theme", THEMES)
def test_the_figure_in_every_cell_of_the_heat_map_can_be_read(theme: str) -> None:
    found = tokens(theme)
    ratios = {step: contrast(found[f"hap-{step}"], found[f"on-hap-{step}"]) for step in STEPS}
    assert {step: ratio for step, ratio in ratios.items() if ratio < 4.5} == {}


@pytest.mark.parametrize("theme", THEMES)
def test_the_hap_scale_runs_one_way_in_grey(theme: str) -> None:
    found = tokens(theme)
    grey = [luminance(found[f"hap-{step}"]) for step in STEPS]
    assert grey == sorted(grey, reverse=theme == "light")
    assert max(grey) / min(grey) > 3


@pytest.mark.parametrize("theme", THEMES)
def test_a_deuteranope_sees_slow_baseline_and_limit_apart(theme: str) -> None:
    found = tokens(theme)
    seen = [as_deuteranope(found[f"hap-{step}"]) for step in (0, 5, 10)]
    warmth = [red - blue for red, _green, blue in seen]
    assert warmth[0] > warmth[1] > warmth[2]
    assert warmth[0] - warmth[2] > 0.2


def test_every_colour_stands_in_the_tokens_alone() -> None:
    css = frontend_folder() / "static/css"
    sheets = [path for path in css.glob("*.css") if path.name != "tokens.css"]
    assert len(sheets) == 3
    assert [
        path.name
        for path in sheets
        if re.search(r"#[0-9a-fA-F]{3,8}\b(?![^{]*\{)", re.sub(r"url\([^)]*\)", "", path.read_text("utf-8")))
    ] == []
