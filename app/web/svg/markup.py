"""Building SVG as text, with everything escaped."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final

from markupsafe import Markup, escape

Gettext = Callable[[str], str]
"""Turns an English message into the reader's language."""

Attribute = str | int | float | None

CAMEL_CASE: Final = {"view_box": "viewBox"}
"""The attributes of SVG that are spelt neither in lower case nor with hyphens."""
SIGNIFICANT_PLACES: Final = 2
"""Decimal places of a coordinate: finer than any screen shows."""


def element(name: str, *children: str | Markup, **attributes: Attribute) -> Markup:
    """One element with its attributes and children, escaped where they are not yet markup.

    A trailing underscore of an attribute's name is dropped (`class_`), inner ones
    become hyphens (`text_anchor`); an attribute that is None is left out.
    """
    parts = [f"<{name}"]
    parts += [f' {_name(key)}="{_value(value)}"' for key, value in attributes.items() if value is not None]
    parts.append(">")
    parts += [child if isinstance(child, Markup) else str(escape(child)) for child in children]
    parts.append(f"</{name}>")
    return Markup("".join(parts))


@lru_cache(maxsize=128)
def _name(key: str) -> str:
    return CAMEL_CASE.get(key) or key.rstrip("_").replace("_", "-")


def _value(value: Attribute) -> str:
    if isinstance(value, float):
        return f"{value:.{SIGNIFICANT_PLACES}f}".rstrip("0").rstrip(".")
    return str(value) if isinstance(value, int) else str(escape(value))


def text(content: str, x: float, y: float, class_: str | None = None, anchor: str | None = None) -> Markup:
    """A line of text whose baseline starts (or ends, or centres) at x, y."""
    return element("text", content, x=x, y=y, class_=class_, text_anchor=anchor)


def picture(title: str, width: float, height: float, *children: Markup, class_: str, role: str = "img") -> Markup:
    """A whole SVG picture; `title` says what it shows and is its accessible name."""
    return element(
        "svg",
        element("title", title),
        *children,
        xmlns="http://www.w3.org/2000/svg",
        view_box=f"0 0 {_value(width)} {_value(height)}",
        width=width,
        height=height,
        class_=class_,
        role=role,
        aria_label=title,
    )
