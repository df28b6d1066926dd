"""How to cite a result. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from app.runs.schemas import Citation

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


@dataclass(frozen=True)
class Cited:
    """What a citation tells of a result; `held` operators are on hold and not in the total."""

    result: str
    entry: str
    user: str
    board: str
    total: float | None
    held: int
    judged_at: datetime
    url: str


def citation(cited: Cited) -> Citation:
    """A sentence and a BibTeX record."""
    score = "no score" if cited.total is None else f"total score {cited.total:.1f}"
    if cited.held:
        score += f" ({cited.held} {'operator' if cited.held == 1 else 'operators'} on hold)"
    day = f"{cited.judged_at:%Y-%m-%d}"
    text = f"{cited.entry} ({cited.user}). {cited.board}, {score}. HapBoard {cited.result}, {day}. {cited.url}"
    title = f"{_tex(cited.entry)} on {_tex(cited.board)}: {score}"
    key = cited.result.lower().replace("-", "")
    fields = {
        "author": f"{{{_tex(cited.user)}}}",
        "title": title,
        "howpublished": f"HapBoard result {cited.result}",
        "year": f"{cited.judged_at:%Y}",
        "month": f"{cited.judged_at.month}",
        "note": f"Judged {day}",
        "url": cited.url,
    }
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
    return Citation(text=text, bibtex=f"@misc{{{key},\n{lines}\n}}\n", url=cited.url)


def _tex(text: str) -> str:
    return "".join(_SPECIAL.get(letter, letter) for letter in text)
