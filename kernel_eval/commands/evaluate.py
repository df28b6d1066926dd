"""`eval`: judge a source folder and write its reports."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from kernel_eval.commands.options import (
    FILE,
    FOLDER,
    default_cache_dir,
    open_suite,
    select,
    selection_options,
    suite_options,
)
from kernel_eval.commands.peaks import peaks_for
from kernel_eval.errors import UsageError
from kernel_eval.later import load_later
from kernel_eval.model import AnchorSet, Candidate, Report, Suite
from kernel_eval.settings import Settings


@dataclass(frozen=True)
class Choices:
    """The options of `eval`, as given."""

    source_dir: Path
    suite_name: str
    bench_data: Path | None
    levels: tuple[str, ...]
    operators: tuple[str, ...]
    case_ids: tuple[int, ...]
    device: str
    device_id: int
    warmup: int
    repeat: int
    op_timeout_sec: float
    reports_dir: Path
    no_subprocess_isolation: bool
    no_iterative_compile: bool
    no_perf: bool
    second_trial: bool
    profiler_level: str
    unsandboxed: bool
    hidden_dir: Path | None
    anchors_file: Path | None
    peaks_file: Path | None
    cache_dir: Path | None
    as_json: bool
    verbose: bool


@click.command("eval")
@click.option("--source-dir", type=FOLDER, required=True, help="Unpacked submission: build.sh, or dist/ with a wheel.")
@suite_options
@selection_options
@click.option("--device", type=click.Choice(["cpu", "npu"]), default="cpu", show_default=True)
@click.option("--device-id", type=int, default=0, show_default=True, help="Which NPU; 0 on cpu.")
@click.option("--warmup", type=click.IntRange(0, 100), default=3, show_default=True, help="Calls before a timed batch.")
@click.option("--repeat", type=click.IntRange(1, 7), default=5, show_default=True, help="Process pairs per case.")
@click.option("--op-timeout-sec", type=click.FloatRange(1), default=240.0, show_default=True)
@click.option("--reports-dir", type=FOLDER, default=Path("reports"), show_default=True)
@click.option("--no-subprocess-isolation", is_flag=True, help="One child per operator instead of per case.")
@click.option("--no-iterative-compile", is_flag=True, help="Don't set failing operators aside and build the rest.")
@click.option("--no-perf", is_flag=True, help="Correctness alone.")
@click.option("--second-trial", is_flag=True, help="Play accepted cases again on other inputs; both must be right.")
@click.option("--profiler-level", type=click.Choice(["Level1", "Level2"]), default="Level1", help="On npu only.")
@click.option("--unsandboxed", is_flag=True, help="For your own code only; the report is marked untrusted.")
@click.option("--hidden-dir", type=FOLDER, help="Folder of hidden cases to judge as well.")
@click.option("--anchors", "anchors_file", type=FILE, help="Recorded anchors; their limits are used.")
@click.option("--peaks", "peaks_file", type=FILE, help="Probed peaks of this machine. [default: probed once, kept]")
@click.option("--cache-dir", type=FOLDER, help="Folder of cached goldens and peaks. [default: the user's]")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON on standard output.")
@click.option("-v", "--verbose", is_flag=True, help="A line per case.")
def evaluate_command(**options: Any) -> int:
    """Judge a submission and write JSON, Markdown and HTML reports."""
    load_later("torch")
    from kernel_eval.commands.closing import closing, exit_code, write_reports
    from kernel_eval.report import report_to_json

    choices = Choices(**options)
    _refuse_impossible(choices)
    suite = _suite(choices)
    report = _judge(choices, suite)
    paths = write_reports(report, choices.reports_dir)
    if choices.as_json:
        click.echo(report_to_json(report), nl=False)
    else:
        click.echo(closing(report, paths))
    return exit_code(report)


def _refuse_impossible(choices: Choices) -> None:
    if choices.device == "npu":
        raise UsageError("--device npu: this build of the judge has no NPU device yet; use --device cpu")
    if choices.device_id != 0:
        raise UsageError(f"--device-id {choices.device_id}: the cpu has one device, 0")
    if not choices.source_dir.is_dir():
        raise UsageError(f"--source-dir {choices.source_dir}: no such folder")
    if choices.no_subprocess_isolation:
        click.echo("kernel-eval: on cpu every case keeps a child of its own; a fork costs a few ms", err=True)


def _suite(choices: Choices) -> Suite:
    suite = open_suite(choices.suite_name, choices.bench_data)
    if choices.hidden_dir is not None:
        from kernel_eval.suite.hidden import overlay_hidden

        suite = overlay_hidden(suite, choices.hidden_dir)
    return select(suite, choices.levels, choices.operators, choices.case_ids)


def _judge(choices: Choices, suite: Suite) -> Report:
    anchors = _anchors(choices.anchors_file)
    cache_dir = choices.cache_dir or default_cache_dir()
    with tempfile.TemporaryDirectory(prefix="kernel-eval-") as work:
        settings = Settings(
            work_dir=Path(work),
            cache_dir=cache_dir,
            hardware=choices.device,
            warmup=choices.warmup,
            repeat=choices.repeat,
            timed=not choices.no_perf,
            second_trial=choices.second_trial,
            sandboxed=not choices.unsandboxed,
            iterative_compile=not choices.no_iterative_compile,
            op_timeout_s=choices.op_timeout_sec,
        )
        peaks = peaks_for(settings.threads, cache_dir, choices.peaks_file)
        from kernel_eval.commands.progress import open_display
        from kernel_eval.pipeline import evaluate

        with open_display(len(suite.cases), settings.timed, choices.verbose) as display:
            candidate = Candidate(choices.source_dir)
            return evaluate(candidate, suite, settings, display, peaks=peaks, anchors=anchors)


def _anchors(path: Path | None) -> AnchorSet | None:
    if path is None:
        return None
    from kernel_eval.suite.anchors import load_anchors

    if not path.is_file():
        raise UsageError(f"--anchors {path}: no such file; record one with `kernel-eval baseline record`")
    return load_anchors(path)
