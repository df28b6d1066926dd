"""`list`, `info` and `config`: what there is to judge, and how. None of them loads torch."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from kernel_eval.commands.options import default_cache_dir, open_suite, select, selection_options, suite_options
from kernel_eval.model import Foreign, InputSpec, Operator, Suite
from kernel_eval.settings import RULES_VERSION, Settings
from kernel_eval.suite import default_bench_data


@click.command("list")
@suite_options
@selection_options
@click.option("--json", "as_json", is_flag=True, help="For machines.")
def list_command(
    suite_name: str,
    bench_data: Path | None,
    levels: tuple[str, ...],
    operators: tuple[str, ...],
    case_ids: tuple[int, ...],
    as_json: bool,
) -> None:
    """List the operators of a suite."""
    suite = select(open_suite(suite_name, bench_data), levels, operators, case_ids)
    if as_json:
        click.echo(json.dumps([_row(suite, operator) for operator in suite.operators], indent=1))
        return
    click.echo(f"{suite.name} {suite.version}: {len(suite.operators)} operators, {len(suite.cases)} cases")
    width = max(len(operator.name) for operator in suite.operators)
    for operator in suite.operators:
        count = len(suite.cases_of(operator.name))
        click.echo(f"  {operator.level}  {operator.name:{width}}  {count:3} cases  {operator.schema}")


@click.command("info")
@click.argument("names", nargs=-1)
@suite_options
@selection_options
@click.option("--json", "as_json", is_flag=True, help="For machines.")
def describe_command(
    names: tuple[str, ...],
    suite_name: str,
    bench_data: Path | None,
    levels: tuple[str, ...],
    operators: tuple[str, ...],
    case_ids: tuple[int, ...],
    as_json: bool,
) -> None:
    """Show operators in full: signature, dtypes, attributes, tolerances, cases."""
    suite = select(open_suite(suite_name, bench_data), levels, (*operators, *names), case_ids)
    if as_json:
        click.echo(json.dumps([_details(suite, operator) for operator in suite.operators], indent=1, default=str))
        return
    click.echo("\n\n".join(_text(suite, operator) for operator in suite.operators))


@click.command("config")
@click.option("--json", "as_json", is_flag=True, help="For machines.")
@click.option("--report-schema", is_flag=True, help="Print the JSON schema of reports instead.")
def config_command(as_json: bool, report_schema: bool) -> None:
    """Show defaults and folders in force."""
    if report_schema:
        from kernel_eval.report import schema

        click.echo(json.dumps(schema.report_schema(), indent=1))
        return
    settings = Settings(work_dir=Path("."), cache_dir=default_cache_dir())
    facts = {
        "rules_version": RULES_VERSION,
        "bench_data": str(default_bench_data()),
        **{key: value for key, value in asdict(settings).items() if key != "work_dir"},
    }
    if as_json:
        click.echo(json.dumps(facts, indent=1, default=str))
        return
    for key, value in facts.items():
        click.echo(f"{key:18} {value}")


def _row(suite: Suite, operator: Operator) -> dict[str, Any]:
    return {
        "name": operator.name,
        "title": operator.title,
        "level": operator.level,
        "category": operator.category,
        "function": operator.function,
        "schema": operator.schema,
        "cases": len(suite.cases_of(operator.name)),
        "foreign": operator.foreign is not None,
    }


def _details(suite: Suite, operator: Operator) -> dict[str, Any]:
    return {
        **_row(suite, operator),
        "inputs": [asdict(entry) for entry in operator.inputs],
        "attributes": [asdict(entry) for entry in operator.attributes],
        "outputs": [asdict(entry) for entry in operator.outputs],
        "thresholds": dict(operator.thresholds),
        "folder": str(operator.folder),
    }


def _text(suite: Suite, operator: Operator) -> str:
    lines = [f"{operator.title} ({operator.name}, {operator.level}, {operator.category})", f"  {operator.schema}"]
    lines += [f"  input      {_input(entry)}" for entry in operator.inputs]
    for attribute in operator.attributes:
        default = "required" if attribute.default is None else f"default {attribute.default}"
        lines.append(f"  attribute  {attribute.name}: {attribute.type}, {default}")
    lines += [f"  output     {entry.name}: {entry.dtype}" for entry in operator.outputs]
    if operator.foreign is not None:
        lines.append(f"  golden     foreign, runs in a box only{_hooks(operator.foreign)}")
    lines += [f"  threshold  {dtype}: {value:g}" for dtype, value in operator.thresholds.items()]
    lines.append(f"  cases      {len(suite.cases_of(operator.name))}, declared in {operator.folder}")
    return "\n".join(lines)


def _hooks(foreign: Foreign) -> str:
    found = [name for name, there in (("get_input", foreign.inputs), ("get_output", foreign.outputs)) if there]
    found += [name for name in (foreign.oracle, foreign.bench) if name]
    return f"; hooks: {', '.join(found)}" if found else ""


def _input(entry: InputSpec) -> str:
    kind = "list of tensors" if entry.tensor_list else "tensor"
    return f"{entry.name}: {kind} of {', '.join(entry.dtypes)}{', optional' if entry.optional else ''}"
