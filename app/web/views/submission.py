"""A result as a submission's page shows it: operators with their bars, strips, failures and hidden summaries."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from app.runs.schemas import CaseView, OperatorResultView, ResultView
from app.web.figures import score
from app.web.svg.case_strip import StripRow, case_strip
from app.web.svg.markup import Gettext
from app.web.svg.three_axis import ThreeAxis, three_axis_bar
from app.web.views.facts import control_words
from app.web.views.naming import case_elements, case_label
from app.web.views.operator_map import operator_path
from app.web.words import VERDICT_ADVICE, VERDICT_WORDS, glyph, spelled

Specs = Mapping[int, Mapping[str, Any]]
"""Public cases of one operator: declaration by case id."""


@dataclass(frozen=True)
class CaseLine:
    """A public case; times in µs."""

    label: str
    verdict: str
    rule: str
    message: str
    candidate_us: float | None
    interval_us: tuple[float, float] | None
    baseline_us: float | None
    limit_us: float | None
    hap: float | None
    mean_re: float | None
    max_re: float | None
    threshold: float | None


@dataclass(frozen=True)
class FlagLine:
    """A flag with the case it stands on; no case where it stands on the operator."""

    flag: str
    severity: str
    message: str
    case: str


@dataclass(frozen=True)
class OperatorLine:
    """One operator of a result, with what opens below it."""

    name: str
    level: str
    score: float | None
    held: bool
    bar: Markup
    verdict: str
    cases_summary: str
    speedup: float | None
    message: str
    advice: str
    flags: tuple[FlagLine, ...]
    strip: Markup
    cases: tuple[CaseLine, ...]
    failures: tuple[CaseLine, ...]
    hidden_summary: str
    log: str
    href: str
    open: bool


def operator_line(result: OperatorResultView, specs: Specs, board: str, alone: bool, _: Gettext) -> OperatorLine:
    """One operator; it is open where it stands alone. What all its cases say alike is said once."""
    cases = tuple(_case(case, specs.get(case.case_id)) for case in result.cases)
    failures = tuple(case for case in cases if case.verdict != "accepted")
    same = len(failures) == len(cases) and {case.message for case in failures} == {result.message}
    points = ThreeAxis(result.compile_points, result.correct_points, result.performance_points)
    return OperatorLine(
        name=result.operator,
        level=result.level,
        score=result.score,
        held=result.publication == "held",
        bar=three_axis_bar(points, _),
        verdict=result.verdict,
        cases_summary=_cases_summary(result, _),
        speedup=result.speedup,
        message=result.message if same or not failures else "",
        advice=_(VERDICT_ADVICE[result.verdict]) if result.verdict in VERDICT_ADVICE else "",
        flags=tuple(
            FlagLine(flag.flag, flag.severity, flag.message, "" if flag.case_id is None else f"#{flag.case_id}")
            for flag in result.flags
        ),
        strip=_strip(result, specs, _),
        cases=cases,
        failures=() if same else failures,
        hidden_summary=_hidden_summary(result, _),
        log=result.log_excerpt,
        href=operator_path(board, result.operator),
        open=alone,
    )


def mean_speedup(result: ResultView) -> float | None:
    """Geometric mean of the speed-ups of operators that are not on hold; None where none was timed."""
    counting = (operator for operator in result.operators if operator.publication != "held")
    speedups = [operator.speedup for operator in counting if operator.speedup]
    return math.exp(math.fsum(math.log(value) for value in speedups) / len(speedups)) if speedups else None


def held_words(result: ResultView, _: Gettext) -> str:
    """What of a result does not count yet, and why; empty where all of it does."""
    if result.held_total is None:
        return ""
    names = ", ".join(operator.operator for operator in result.operators if operator.publication == "held")
    said = _(
        "{score} more points ({names}) are on hold: they count neither here nor on the board until a person decides."
    )
    return said.format(score=score(result.held_total), names=names)


def inconclusive(result: ResultView, _: Gettext) -> str:
    """Why times may be off by more than their intervals say; empty where the host was steady."""
    if not result.inconclusive:
        return ""
    if result.control_spread is None:
        return _("Inconclusive: too few cases were timed to tell how steady the host was.")
    seen = _("Inconclusive: half of a control kernel's times lay within {spread} of their median, which is unsteady.")
    may = _("Scores may have moved by more than their intervals say; verdicts don't depend on it.")
    return f"{seen.format(spread=control_words(result.control_spread))} {may}"


def _case(case: CaseView, spec: Mapping[str, Any] | None) -> CaseLine:
    return CaseLine(
        label=case_label(case.case_id, spec),
        verdict=case.verdict,
        rule=case.rule,
        message=case.message,
        candidate_us=case.candidate_us,
        interval_us=_interval(case),
        baseline_us=case.baseline_us,
        limit_us=case.limit_us,
        hap=case.hap,
        mean_re=case.mean_re,
        max_re=case.max_re,
        threshold=case.threshold,
    )


def _interval(case: CaseView) -> tuple[float, float] | None:
    if case.candidate_low_us is None or case.candidate_high_us is None:
        return None
    return case.candidate_low_us, case.candidate_high_us


def _strip(result: OperatorResultView, specs: Specs, _: Gettext) -> Markup:
    if not result.cases:
        return Markup("")
    title = _("{operator}: time of each public case against limit and baseline").format(operator=result.operator)
    return case_strip(title, [_strip_row(case, specs.get(case.case_id), _) for case in result.cases], _)


def _strip_row(case: CaseView, spec: Mapping[str, Any] | None, _: Gettext) -> StripRow:
    return StripRow(
        label=case_label(case.case_id, spec),
        size=case_elements(spec),
        limit_us=case.limit_us,
        baseline_us=case.baseline_us,
        candidate_us=case.candidate_us,
        interval_us=_interval(case),
        hap=case.hap,
        glyph=glyph(case.verdict),
        word=_(spelled(VERDICT_WORDS, case.verdict)),
        accepted=case.verdict == "accepted",
    )


def _cases_summary(result: OperatorResultView, _: Gettext) -> str:
    public = _("{passed}/{total} public").format(passed=result.public_passed, total=result.public_total)
    if result.hidden_correct_percent is None:
        return public
    hidden = _("{percent} % hidden").format(percent=result.hidden_correct_percent)
    return f"{public}, {hidden}"


def _hidden_summary(result: OperatorResultView, _: Gettext) -> str:
    if result.hidden_correct_percent is None:
        return ""
    if result.hidden_correct_percent == 100:
        form = _("All {total} hidden cases are correct; operator score {score}.")
    else:
        form = _("About {percent} % of the {total} hidden cases are correct; operator score {score}.")
    return form.format(percent=result.hidden_correct_percent, total=result.hidden_total, score=score(result.score))
