"""Written pages and operator descriptions: Markdown from our own files, with HTML in it switched off."""

from __future__ import annotations

from functools import lru_cache

from markdown_it import MarkdownIt
from markupsafe import Markup


@lru_cache(maxsize=1)
def _markdown() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False, "typographer": False}).enable("table")


def rendered(source: str) -> Markup:
    """Markdown as HTML. Raw HTML in the source is shown as text; links keep to http, https and relative ones."""
    return Markup(_markdown().render(source))


def without_title(source: str) -> str:
    """The text without its first heading, where the page sets its own."""
    lines = source.lstrip().splitlines()
    if lines and lines[0].startswith("# "):
        lines = lines[1:]
    return "\n".join(lines).strip()
