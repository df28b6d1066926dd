"""A schema such as `exp(Tensor x, float base=-1.0) -> Tensor y` taken apart."""

from __future__ import annotations

import re
from dataclasses import dataclass

SCALARS = ("int", "float", "bool", "str")
_NAME = re.compile(r"\s*([A-Za-z_]\w*)\s*\((.*)\)\s*->\s*(.*?)\s*", re.DOTALL)
_PART = re.compile(
    r"(Tensor|int|float|bool|str)(\([a-z]!?\))?(\?)?(\[\d*\])?(\?)?(?:\s+([A-Za-z_]\w*))?(?:\s*=\s*(.+))?", re.DOTALL
)
LONGEST = 4096
MOST_PARTS = 64


@dataclass(frozen=True)
class Part:
    """One argument or return value. `default` is the text behind `=`, None where there is none."""

    type: str
    name: str
    is_list: bool = False
    optional: bool = False
    written: bool = False
    default: str | None = None

    @property
    def is_tensor(self) -> bool:
        """Whether it is a tensor or a list of them."""
        return self.type == "Tensor"

    @property
    def attribute_type(self) -> str:
        """The type as attributes have it: `int`, `int[]`, `float?`, …"""
        return f"{self.type}{'[]' if self.is_list else ''}{'?' if self.optional else ''}"


@dataclass(frozen=True)
class Schema:
    """A function's name, arguments and return values."""

    function: str
    arguments: tuple[Part, ...]
    results: tuple[Part, ...]


def parse_schema(text: str) -> Schema:
    """The parts of a schema. Raises `ValueError` with what is wrong."""
    if not text.replace("\n", " ").isprintable():
        raise ValueError("the schema holds characters that cannot be shown")
    if len(text) > LONGEST:
        raise ValueError(f"the schema is longer than {LONGEST} characters")
    match = _NAME.fullmatch(text)
    if match is None:
        raise ValueError("the schema must look like name(Tensor x, float a=1.0) -> Tensor y")
    function, inside, behind = match.groups()
    bare = behind[1:-1] if behind.startswith("(") and behind.endswith(")") else behind
    arguments = tuple(_part(word, "") for word in _split(inside) if word != "*")
    results = tuple(_part(word, f"output{index}") for index, word in enumerate(_split(bare)))
    names = [part.name for part in arguments]
    if not results or len(set(names)) != len(names) or len({part.name for part in results}) != len(results):
        raise ValueError("the schema needs a return value, and every name only once")
    if any(not part.is_tensor for part in results):
        raise ValueError("the schema may return tensors and lists of tensors only")
    return Schema(function, arguments, results)


def _part(word: str, unnamed: str) -> Part:
    match = _PART.fullmatch(word)
    if match is None:
        raise ValueError(f"the schema's part {word!r:.60} is not understood")
    kind, alias, early, brackets, late, name, default = match.groups()
    if not (name or unnamed):
        raise ValueError(f"the schema's part {word!r:.60} has no name")
    return Part(kind, name or unnamed, bool(brackets), bool(early or late), "!" in (alias or ""), default)


def _split(text: str) -> list[str]:
    """Parts between commas that stand in no bracket and no quotes."""
    parts, depth, quote, current = [], 0, "", ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        if character == "," and not quote and depth == 0:
            parts.append(current.strip())
            current = ""
        else:
            current += character
    parts.append(current.strip())
    if len(parts) > MOST_PARTS:
        raise ValueError(f"the schema has more than {MOST_PARTS} parts")
    return [part for part in parts if part]
