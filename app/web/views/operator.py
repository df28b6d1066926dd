"""An operator's page: its rules in words, its public cases, its ranking."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from markupsafe import Markup

from app.boards.schemas import OperatorStandingRow
from app.operators.schemas import CaseSpecView, OperatorView
from app.web.prose import rendered, without_title
from app.web.svg.markup import Gettext
from app.web.svg.three_axis import ThreeAxis, three_axis_bar
from app.web.translation import Language
from app.web.views.comparing import output_rules
from app.web.views.naming import attribute_words, case_elements, case_inputs, entry_made, entry_name, range_words
from kernel_eval.model.tensor import ITEM_BYTES

DERIVED: Final = "derived"
ALIGNMENT_BYTES: Final = 512
"""A case is aligned where every input's innermost row is a multiple of this."""


@dataclass(frozen=True)
class CaseLine:
    """A public case as the table shows it; times in µs, no baseline before one is measured."""

    case_id: int
    inputs: str
    attributes: str
    values: str
    elements: int
    aligned: bool
    baseline_us: float | None
    limit_us: float | None
    bottleneck: str


@dataclass(frozen=True)
class RankingLine:
    """An entry's place on one operator."""

    rank: int
    name: str
    made: str
    href: str
    score: float
    bar: Markup
    speedup: float | None
    dsl: str
    published: datetime


@dataclass(frozen=True)
class OperatorPage:
    """Everything on an operator's page."""

    name: str
    title: str
    function: str
    level: str
    category: str
    schema: str
    description: Markup
    accuracy: tuple[str, ...]
    threshold_reason: str
    cases: tuple[CaseLine, ...]
    unmeasured: bool
    ranking: tuple[RankingLine, ...]
    board_href: str
    board_title: str


def description(view: OperatorView, language: Language) -> Markup:
    """The operator's description in the reader's language, in English where there is no other."""
    text = view.desc_zh if language is Language.CHINESE and view.desc_zh else view.desc_en
    return rendered(without_title(text)) if text else Markup("")


def case_line(case: CaseSpecView) -> CaseLine:
    """One public case."""
    spec = case.spec
    return CaseLine(
        case_id=case.case_id,
        inputs=case_inputs(spec),
        attributes=attribute_words(spec.get("attributes", {})),
        values=range_words(spec.get("value_ranges", ())),
        elements=case_elements(spec),
        aligned=is_aligned(spec),
        baseline_us=None if case.baseline_provenance == DERIVED else case.baseline_us,
        limit_us=case.limit_us,
        bottleneck=case.bottleneck or "",
    )


def is_aligned(spec: Mapping[str, Any]) -> bool:
    """Whether every input's innermost row is a multiple of 512 bytes."""
    pairs = zip(spec.get("shapes", ()), spec.get("dtypes", ()), strict=False)
    return all(_row_bytes(part, dtype) % ALIGNMENT_BYTES == 0 for shape, dtype in pairs for part in _tensors(shape))


def _tensors(shape: Any) -> list[Any]:
    if shape is None:
        return []
    return list(shape) if shape and isinstance(shape[0], list | tuple) else [shape]


def _row_bytes(shape: Any, dtype: str) -> int:
    return (shape[-1] if shape else 1) * ITEM_BYTES.get(dtype, 1)


def ranking_line(row: OperatorStandingRow, points: ThreeAxis, _: Gettext) -> RankingLine:
    """One row of the operator's ranking."""
    return RankingLine(
        rank=row.rank,
        name=entry_name(row.entry),
        made=entry_made(row.entry),
        href=f"/submissions/{row.submission}",
        score=row.score,
        bar=three_axis_bar(points, _),
        speedup=row.speedup,
        dsl=row.entry.dsl,
        published=row.published_at,
    )


def accuracy_rules(spec: Mapping[str, Any], _: Gettext) -> tuple[str, ...]:
    """The operator's accuracy rules as sentences, from its declaration."""
    rules = [rule for output in spec.get("outputs", ()) for rule in output_rules(output, _)]
    rules.append(
        _("Floats: relative error against the golden, mean below τ and largest below 10 τ; else region by region.")
    )
    for dtype, threshold in dict(spec.get("thresholds") or {}).items():
        form = _("For {dtype} this operator sets τ = {threshold}.")
        rules.append(form.format(dtype=dtype, threshold=power_of_two(float(threshold))))
    if spec.get("same_precision_relief"):
        rules.append(_("A long reduction: errors as large as those of PyTorch at the same precision are tolerated."))
    if spec.get("in_place"):
        rules.append(_("It writes into its inputs."))
    return tuple(rules)


def power_of_two(value: float) -> str:
    """A threshold as a power of two where it is one, such as `2⁻¹⁰`; 0 demands equality."""
    if value <= 0:
        return "0"
    exponent = math.log2(value)
    if not exponent.is_integer():
        return f"{value:g}"
    return "2" + str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
