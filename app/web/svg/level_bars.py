"""Level bars: the sum reached on each level against the most that the level can give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from app.web.figures import score
from app.web.svg.markup import Gettext, element, picture, text

STRIP_WIDTH: Final = 264.0
BAR_HEIGHT: Final = 8.0
HEIGHT: Final = 26.0
GAP: Final = 4.0


@dataclass(frozen=True)
class LevelScore:
    """The sum on one level, and its maximum: 100 per operator of the level."""

    level: str
    score: float
    maximum: float


def level_bars(levels: Sequence[LevelScore], _: Gettext) -> Markup:
    """One segment per level, as long as its maximum is large, filled as far as the sum reaches.

    So the filled lengths add up to the total, and a sum is never mistaken for a mean.
    """
    shown = [level for level in levels if level.maximum > 0]
    if not shown:
        return Markup("")
    room = STRIP_WIDTH - GAP * (len(shown) - 1)
    unit = room / sum(level.maximum for level in shown)
    parts: list[Markup] = []
    x = 0.0
    for level in shown:
        width = level.maximum * unit
        filled = min(max(level.score, 0.0), level.maximum) * unit
        parts.append(element("rect", x=x, y=0, width=width, height=BAR_HEIGHT, class_="level-missing"))
        parts.append(element("rect", x=x, y=0, width=filled, height=BAR_HEIGHT, class_="level-reached"))
        parts.append(text(_caption(level, width), x, HEIGHT - 4, class_="level-figure"))
        x += width + GAP
    return picture(_sentence(shown, _), STRIP_WIDTH, HEIGHT, *parts, class_="level-bars")


def _caption(level: LevelScore, width: float) -> str:
    if width > 110:
        return f"{level.level} {score(level.score)} / {level.maximum:.0f}"
    if width > 54:
        return f"{level.level} {level.score:.0f}"
    return f"{level.score:.0f}"


def _sentence(levels: Sequence[LevelScore], _: Gettext) -> str:
    part = _("{level}: {score} of {maximum}")
    return "; ".join(
        part.format(level=level.level, score=score(level.score), maximum=f"{level.maximum:.0f}") for level in levels
    )
