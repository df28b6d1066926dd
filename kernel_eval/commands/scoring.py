"""`score`: the formula of one case, for anybody who has three times."""

from __future__ import annotations

import json

import click

from kernel_eval.errors import NotMeasured, UsageError


@click.command("score")
@click.option("--baseline-us", type=float, help="T_base in µs; left out, it is derived from the limit.")
@click.option("--limit-us", type=float, required=True, help="T_HW in µs.")
@click.option("--measured-us", type=float, required=True, help="The candidate's time in µs.")
def score_command(baseline_us: float | None, limit_us: float, measured_us: float) -> None:
    """Score one case: HAP, what counts of it now, and the flags it raises, as JSON."""
    from kernel_eval.score import score_case

    try:
        score = score_case(baseline_us, limit_us, measured_us)
    except NotMeasured as fault:
        raise UsageError(str(fault)) from fault
    flags = [
        {"flag": str(each.flag), "severity": str(each.severity), "message": each.message} for each in score.concerns
    ]
    click.echo(json.dumps({"hap": score.hap, "published": score.published, "flags": flags}))
