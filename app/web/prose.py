"""Written pages and operator descriptions: Markdown from our own files, with HTML in it switched off."""

from __future__ import annotations

from functools import lru_cache

from markdown_it import MarkdownIt
from markupsafe import Markup, escape


@lru_cache(maxsize=1)
def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": False, "typographer": False}).enable("table")
    markdown.add_render_rule("table_open", _framed_open)
    markdown.add_render_rule("table_close", _framed_close)
    return markdown


def _framed_open(*_: object) -> str:
    """Tables scroll inside a frame of their own on narrow screens."""
    return '<div class="frame" tabindex="0"><table>\n'


def _framed_close(*_: object) -> str:
    return "</table></div>\n"


def rendered(source: str) -> Markup:
    """Markdown as HTML; what may scroll can be reached by keyboard.

    Raw HTML in the source is shown as text; links keep to http, https and relative ones.
    """
    return Markup(_markdown().render(source).replace("<pre>", '<pre tabindex="0">'))


def spoken(message: str) -> Markup:
    """A message with its `code` set as code; everything else is escaped."""
    parts = message.split("`")
    if len(parts) % 2 == 0:
        return escape(message)
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if index % 2 else escape(part) for index, part in enumerate(parts)
    )


def without_title(source: str) -> str:
    """The text without its first heading, where the page sets its own."""
    lines = source.lstrip().splitlines()
    if lines and lines[0].startswith("# "):
        lines = lines[1:]
    return "\n".join(lines).strip()
