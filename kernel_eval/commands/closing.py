"""How `eval` ends: reports on disk, a few lines, an exit code."""

from __future__ import annotations

import re
from pathlib import Path

from kernel_eval.model import Report, Verdict
from kernel_eval.report import report_to_html, report_to_json, report_to_markdown
from kernel_eval.report.figures import points, ratio, share
from kernel_eval.report.summary import steadiness, summarise, verdict_counts

PASSED, FAILED, OURS = 0, 1, 3


def exit_code(report: Report) -> int:
    """0 where every case was accepted, 3 where some fault was ours, else 1."""
    if report.verdict is Verdict.INTERNAL_ERROR:
        return OURS
    return PASSED if report.operators and report.verdict is Verdict.ACCEPTED else FAILED


def write_reports(report: Report, folder: Path) -> list[Path]:
    """Write the three forms; the paths, JSON first."""
    folder.mkdir(parents=True, exist_ok=True)
    stamp = re.sub(r"\D", "", report.started_at)[:14]
    stem = f"{report.suite}_eval_{stamp[:8]}_{stamp[8:]}"
    texts = {"json": report_to_json, "md": report_to_markdown, "html": report_to_html}
    paths = []
    for suffix, write in texts.items():
        path = folder / f"{stem}.{suffix}"
        path.write_text(write(report), encoding="utf-8")
        paths.append(path)
    return paths


def closing(report: Report, paths: list[Path]) -> str:
    """The summary as lines of text, with the paths of the reports."""
    summary = summarise(report)
    counts = ", ".join(f"{count} {verdict}" for verdict, count in verdict_counts(report).items())
    lines = [
        f"{report.suite} {report.suite_version} on {report.hardware}: {report.verdict}",
        f"  cases     {summary.total_passed} of {summary.total_cases} accepted ({share(summary.pass_rate)})",
        f"  operators {summary.solved_operators} of {summary.total_operators} solved",
        f"  score     {points(report.total_score)}",
        f"  speed-up  {ratio(summary.overall_geometric_mean_speedup)} (geometric mean over baseline)",
        *([f"  host      {steadiness(report)}"] if steadiness(report) else []),
        *([f"  verdicts  {counts}"] if counts else []),
        *([f"  flags     {_flag_line(report)}"] if _flag_line(report) else []),
        *(f"  report    {path}" for path in paths),
    ]
    return "\n".join(lines)


def _flag_line(report: Report) -> str:
    flags = [*report.flags]
    for operator in report.operators:
        flags += [*operator.flags, *(flag for case in operator.cases for flag in case.flags)]
    names = [str(flag.id) for flag in flags]
    return ", ".join(f"{names.count(name)} {name}" for name in sorted(set(names)))
