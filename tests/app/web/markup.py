"""What a page's HTML holds, read with the standard library's parser."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = frozenset(["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"])
ADDRESSES = ("href", "src", "action", "srcset", "poster", "formaction", "data-live", "data-part")

CODE = frozenset(["code", "pre", "script", "textarea"])


@dataclass
class Element:
    """An element with its attributes and its text; tags and classes of what it stands in."""

    tag: str
    attributes: dict[str, str]
    text: str = ""
    inside: tuple[str, ...] = ()
    below: frozenset[str] = frozenset()


@dataclass
class Page(HTMLParser):
    """All elements of a page, in order; `faults` names tags that do not close as they should."""

    source: str
    elements: list[Element] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    _open: list[Element] = field(default_factory=list)
    _said: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.source)
        self.close()
        self.faults += [f"<{element.tag}> is never closed" for element in self._open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        self.faults += [f"<{tag}> has {name} twice" for name in names if names.count(name) > 1]
        inside = tuple(element.tag for element in self._open)
        below = frozenset(name for element in self._open for name in element.attributes.get("class", "").split())
        element = Element(tag, {name: value or "" for name, value in attrs}, inside=inside, below=below)
        self.elements.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open[-1].tag != tag:
            self.faults.append(f"</{tag}> closes {self._open[-1].tag if self._open else 'nothing'}")
            return
        self._open.pop()

    def handle_data(self, data: str) -> None:
        for element in self._open:
            element.text += data
        if not {element.tag for element in self._open} & CODE and not self._is_code():
            languages = [element.attributes["lang"] for element in self._open if "lang" in element.attributes]
            self._said.append((languages[-1] if languages else "", data))

    def _is_code(self) -> bool:
        return any("mono" in element.attributes.get("class", "").split() for element in self._open)

    def said_in(self, language: str) -> list[str]:
        """Pieces of text that are in the page's language: not code, and not marked as another language."""
        return [text for said, text in self._said if said == language]

    def all(self, *tags: str) -> Iterator[Element]:
        """Every element of these tags."""
        return (element for element in self.elements if element.tag in tags)

    def addresses(self) -> list[str]:
        """Everything that a browser might load or go to."""
        return [
            element.attributes[name] for element in self.elements for name in ADDRESSES if name in element.attributes
        ]
