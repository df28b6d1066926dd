"""The three-axis bar of an operator score: compile 20, correct 30, performance 50, the missing part visible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from app.web.figures import score
from app.web.svg.markup import Gettext, element, picture

COMPILE_POINTS: Final = 20.0
CORRECT_POINTS: Final = 30.0
PERFORMANCE_POINTS: Final = 50.0

POINT_WIDTH: Final = 2.0
GAP: Final = 2.0
HEIGHT: Final = 12.0


@dataclass(frozen=True)
class ThreeAxis:
    """Points reached on each axis; None where nothing is published."""

    compile_points: float | None
    correct_points: float | None
    performance_points: float | None


def three_axis_bar(points: ThreeAxis, _: Gettext) -> Markup:
    """The bar; a performance above 50 (approved cases faster than the limit) grows beyond the frame's end."""
    axes = (
        ("compile", points.compile_points, COMPILE_POINTS),
        ("correct", points.correct_points, CORRECT_POINTS),
        ("performance", points.performance_points, PERFORMANCE_POINTS),
    )
    parts: list[Markup] = []
    x = 0.0
    for name, reached, most in axes:
        parts.append(_rectangle(x, most, "axis-missing"))
        if reached:
            parts.append(_rectangle(x, min(reached, most), f"axis-{name}"))
        x += most * POINT_WIDTH + GAP
    over = max((points.performance_points or 0.0) - PERFORMANCE_POINTS, 0.0)
    if over:
        parts.append(_rectangle(x, over, "axis-over"))
        x += over * POINT_WIDTH + GAP
    return picture(_sentence(points, _), x - GAP, HEIGHT, *parts, class_="three-axis")


def _rectangle(x: float, points: float, class_: str) -> Markup:
    return element("rect", x=x, y=0, width=points * POINT_WIDTH, height=HEIGHT, class_=class_)


def _sentence(points: ThreeAxis, _: Gettext) -> str:
    return _("Compile {compile} of 20, correct {correct} of 30, performance {performance} of 50").format(
        compile=score(points.compile_points),
        correct=score(points.correct_points),
        performance=score(points.performance_points),
    )
