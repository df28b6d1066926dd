"""A report as one self-contained page: no script, no font, no picture from elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from importlib import resources

from kernel_eval.model import CaseResult, Flag, OperatorResult, Report, Verdict
from kernel_eval.report.charts import axes_bar, times_chart
from kernel_eval.report.figures import limit_us, microseconds, points, ratio, share
from kernel_eval.report.summary import speedup, steadiness, summarise

NUMBERS = frozenset(
    ("Accepted", "Score", "µs", "Baseline µs", "Limit µs", "HAP", "Speed-up", "Mean error")
)  # fmt: skip
"""Heads of the columns that hold figures."""
LEGEND = (
    '<p class="legend soft">Points: <i style="background:var(--compile)"></i>compile (20)'
    '<i style="background:var(--correct)"></i>correct (30)<i style="background:var(--speed)"></i>performance (50). '
    "Times: blue mark limit, green dot candidate with its spread, grey mark baseline.</p>"
)


def report_to_html(report: Report) -> str:
    """The page. Everything that a candidate wrote is escaped."""
    style = resources.files("kernel_eval.report").joinpath("report.css").read_text(encoding="utf-8")
    body = "".join(
        (
            _header(report),
            _tiles(report),
            _operator_table(report.operators),
            "".join(_operator(operator) for operator in report.operators),
            _flags("Flags of the whole evaluation", report.flags),
            _environment(report),
            _log(report),
        )
    )
    title = escape(f"{report.suite} on {report.hardware}: {points(report.total_score)}")
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{style}</style></head><body>{body}</body></html>\n"
    )


def _header(report: Report) -> str:
    warning = "" if report.trusted else '<p class="refused">The sandbox was off: this report is untrusted.</p>'
    if report.inconclusive:
        warning += f'<p class="ours">Times are {escape(steadiness(report))}.</p>'
    message = f"<p>{escape(report.message)}</p>" if report.message else ""
    return (
        f"<h1>{escape(report.suite)} {escape(report.suite_version)} on {escape(report.hardware)}</h1>"
        f'<p class="soft">Evaluation <code>{escape(report.evaluation)}</code>, {escape(report.started_at)}. '
        f"{_verdict(report.verdict)}</p>{warning}{message}"
    )


def _tiles(report: Report) -> str:
    summary = summarise(report)
    tiles = [
        (points(report.total_score), "total score"),
        (f"{summary.solved_operators} / {summary.total_operators}", "operators solved"),
        (f"{summary.total_passed} / {summary.total_cases}", f"cases accepted ({share(summary.pass_rate)})"),
        (ratio(summary.overall_geometric_mean_speedup), "speed-up over baseline"),
        *((points(score), f"level {level}") for level, score in report.level_scores.items()),
    ]
    inner = "".join(
        f'<div class="tile"><b>{escape(value)}</b><span>{escape(name)}</span></div>' for value, name in tiles
    )
    return f'<div class="tiles">{inner}</div>'


def _operator_table(operators: Sequence[OperatorResult]) -> str:
    if not operators:
        return ""
    head = ("Operator", "Verdict", "Accepted", "Points", "Score", "Speed-up")
    rows = []
    for operator in operators:
        accepted = sum(case.accepted for case in operator.cases)
        name = escape(operator.operator)
        rows.append(
            (
                f'<a href="#{name}">{name}</a> <span class="soft">{operator.level}</span>',
                _verdict(operator.verdict),
                f"{accepted} / {len(operator.cases)}",
                axes_bar(operator),
                points(operator.score),
                ratio(operator.speedup),
            )
        )
    return f"<h2>Operators</h2>{LEGEND}{_table(head, rows)}"


def _operator(operator: OperatorResult) -> str:
    head = ("Case", "Verdict", "µs", "Baseline µs", "Limit µs", "HAP", "Speed-up", "Mean error", "What was found")
    flags = [*operator.flags, *(flag for case in operator.cases for flag in case.flags)]
    parts = [f'<h2 id="{escape(operator.operator)}">{escape(operator.operator)}</h2>']
    if operator.message:
        parts.append(f"<p>{escape(operator.message)}</p>")
    if operator.log_excerpt:
        parts.append(f"<pre>{escape(operator.log_excerpt)}</pre>")
    parts.append(times_chart(operator.cases))
    table = _table(head, (_case_row(case) for case in operator.cases))
    parts.append(f"<details><summary>{len(operator.cases)} cases</summary>{table}</details>")
    parts.append(_flags("Flags", flags))
    return "".join(parts)


def _case_row(case: CaseResult) -> Sequence[str]:
    mean = case.comparison.mean_re if case.comparison else None
    return (
        f"{case.split} {case.case_id}",
        _verdict(case.verdict),
        microseconds(case.candidate.median_us if case.candidate else None),
        microseconds(case.baseline.median_us if case.baseline else None),
        microseconds(limit_us(case)),
        ratio(case.hap),
        ratio(speedup(case)),
        "" if mean is None else f"{mean:.2e}",
        escape(f"{case.rule} {case.message}".strip()[:300]),
    )


def _flags(title: str, flags: Sequence[Flag]) -> str:
    if not flags:
        return ""
    rows = (
        (
            f"<b>{flag.id}</b>",
            str(flag.severity),
            str("" if flag.case_id is None else flag.case_id),
            escape(flag.message),
        )
        for flag in flags
    )
    table = _table(("Flag", "Severity", "Case", "Why"), rows)
    return f"<details><summary>{escape(title)} ({len(flags)})</summary>{table}</details>"


def _environment(report: Report) -> str:
    facts = {
        "rules": report.rules_version,
        "limits": report.limit_preset,
        "anchors": report.anchors_version or "none",
        "suite digest": report.suite_digest,
        "hidden digest": report.hidden_digest or "no hidden cases",
        "finished": report.finished_at,
        **report.environment,
    }
    rows = ((escape(name), f"<code>{escape(value)}</code>") for name, value in facts.items())
    return f"<details><summary>Environment</summary>{_table(('What', 'Value'), rows)}</details>"


def _log(report: Report) -> str:
    title = f"Build log ({report.build_seconds:.1f} s)"
    return f"<details><summary>{title}</summary><pre>{escape(report.build_log)}</pre></details>"


def _verdict(verdict: Verdict) -> str:
    css = {Verdict.ACCEPTED: "accepted", Verdict.INTERNAL_ERROR: "ours"}.get(verdict, "refused")
    return f'<span class="word {css}">{escape(str(verdict))}</span>'


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """`rows` hold cells of HTML; a column of figures, by its head, stands to the right."""
    kinds = [' class="number"' if name in NUMBERS else "" for name in head]
    top = "".join(f"<th{kind}>{escape(name)}</th>" for kind, name in zip(kinds, head, strict=True))
    cells = ("".join(f"<td{kind}>{cell}</td>" for kind, cell in zip(kinds, row, strict=True)) for row in rows)
    body = "".join(f"<tr>{row}</tr>" for row in cells)
    return f'<div class="scroll"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'
