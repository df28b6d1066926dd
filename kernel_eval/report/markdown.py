"""A report as Markdown: overview, operators, then the cases of each operator."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kernel_eval.model import CaseResult, Flag, OperatorResult, Report
from kernel_eval.report.figures import limit_us, microseconds, points, ratio, share
from kernel_eval.report.summary import speedup, steadiness, summarise


def report_to_markdown(report: Report) -> str:
    """The report as GitHub-flavoured Markdown."""
    parts = [_overview(report), _operator_table(report.operators)]
    parts += [_operator(operator) for operator in report.operators]
    parts.append(_flags("Flags of the whole evaluation", report.flags))
    return "\n\n".join(part for part in parts if part) + "\n"


def _overview(report: Report) -> str:
    summary = summarise(report)
    rows = [
        ("Suite", f"{report.suite} {report.suite_version} (`{report.suite_digest[:16]}`)"),
        ("Hardware", report.hardware),
        ("Judged", f"{report.started_at} to {report.finished_at}"),
        ("Verdict", str(report.verdict)),
        ("Total score", points(report.total_score)),
        ("Operators solved", f"{summary.solved_operators} of {summary.total_operators}"),
        ("Cases accepted", f"{summary.total_passed} of {summary.total_cases} ({share(summary.pass_rate)})"),
        ("Geometric mean speed-up", ratio(summary.overall_geometric_mean_speedup)),
        (
            "Rules, limits, anchors",
            f"{report.rules_version}, {report.limit_preset}, {report.anchors_version or 'none'}",
        ),
        ("Sandbox", "complete" if report.trusted else "**off: untrusted**"),
    ]
    if steadiness(report):
        rows.append(("Host", steadiness(report)))
    if report.message:
        rows.append(("Message", report.message))
    return f"# Evaluation {report.evaluation}\n\n" + _table(("", ""), rows)


def _operator_table(operators: Sequence[OperatorResult]) -> str:
    if not operators:
        return ""
    head = ("Operator", "Level", "Verdict", "Accepted", "Compile", "Correct", "Performance", "Score", "Speed-up")
    return "## Operators\n\n" + _table(head, (_operator_row(operator) for operator in operators))


def _operator_row(operator: OperatorResult) -> tuple[str, ...]:
    accepted = sum(case.accepted for case in operator.cases)
    return (
        operator.operator,
        str(operator.level),
        str(operator.verdict),
        f"{accepted}/{len(operator.cases)}",
        points(operator.compile_points),
        points(operator.correct_points),
        points(operator.performance_points),
        points(operator.score),
        ratio(operator.speedup),
    )


def _operator(operator: OperatorResult) -> str:
    head = ("Case", "Verdict", "Rule", "µs", "Baseline µs", "Limit µs", "HAP", "Speed-up", "Message")
    parts = [f"## {operator.operator}"]
    if operator.message:
        parts.append(_cell(operator.message))
    if operator.log_excerpt:
        parts.append("```text\n" + operator.log_excerpt.replace("```", "'''") + "\n```")
    if operator.cases:
        parts.append(_table(head, (_case_row(case) for case in operator.cases)))
    parts.append(_flags("Flags", [*operator.flags, *(flag for case in operator.cases for flag in case.flags)]))
    return "\n\n".join(part for part in parts if part)


def _case_row(case: CaseResult) -> tuple[str, ...]:
    return (
        f"{case.split} {case.case_id}",
        str(case.verdict),
        case.rule,
        microseconds(case.candidate.median_us if case.candidate else None),
        microseconds(case.baseline.median_us if case.baseline else None),
        microseconds(limit_us(case)),
        ratio(case.hap),
        ratio(speedup(case)),
        case.message[:200],
    )


def _flags(title: str, flags: Sequence[Flag]) -> str:
    if not flags:
        return ""
    lines = []
    for flag in flags:
        place = f"case {flag.case_id}: " if flag.case_id is not None else ""
        lines.append(f"- **{flag.id}** ({flag.severity}) {place}{_cell(flag.message)}")
    return f"### {title}\n\n" + "\n".join(lines)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    lines += ["| " + " | ".join(_cell(entry) for entry in row) + " |" for row in rows]
    return "\n".join(lines)


def _cell(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\r", " ").replace("\n", " ").replace("<", "&lt;")
