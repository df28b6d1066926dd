"""The names under which a submission may export an operator."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator

from kernel_eval.model.operator import Operator

_EACH_CAPITAL = re.compile(r"(?<=[A-Za-z0-9])(?=[A-Z])")
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_DIGITS_APART = re.compile(r"(?<=[a-z])(?=[A-Z0-9])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Z])(?=[0-9])")


def spellings(operator: Operator) -> tuple[str, ...]:
    """The schema's function name first, then the operator's name and what may be made of its CamelCase title.

    `GridSampler3D` gives `grid_sampler3_d`, `grid_sampler3d` and `grid_sampler_3d` besides itself and `gridsampler3d`.
    """
    return tuple(dict.fromkeys(name for name in _spellings(operator) if name.isidentifier()))


def identifier_of(title: str) -> str:
    """A title, such as a file's name, as a lower-case identifier: `1_Square_matrix` gives `p1_square_matrix`."""
    name = re.sub(r"[^a-z0-9]+", "_", title.lower()).strip("_")
    return name if name.isidentifier() and not keyword.iskeyword(name) else f"p{name}"


def _spellings(operator: Operator) -> Iterator[str]:
    yield operator.function
    yield operator.name
    for boundary in (_EACH_CAPITAL, _WORDS, _DIGITS_APART):
        yield boundary.sub("_", operator.title).lower()
    joined = re.sub(r"([0-9])_+(?=[a-z](_|$))", r"\1", _WORDS.sub("_", operator.title).lower())
    yield joined
    yield operator.title.lower()
    yield operator.title
