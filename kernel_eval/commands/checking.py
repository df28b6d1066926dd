"""`check`: the rules of correctness for anybody who has a golden and an output in files."""

from __future__ import annotations

import json
from pathlib import Path

import click

from kernel_eval.commands.options import FILE
from kernel_eval.errors import UsageError

NOT_ACCEPTED = 1
LARGEST_THRESHOLD = 1 << 31


@click.command("check")
@click.option("--golden", type=FILE, required=True, help="The right answer; FP64 is rounded to the declared dtype.")
@click.option("--output", type=FILE, required=True, help="What is to be judged.")
@click.option("--same-precision", type=FILE, help="The golden's run in the declared dtype. [default: the golden]")
@click.option("--declared-dtype", help="float16, hifloat32, … [default: the golden's; with FP64 the output's]")
@click.option("--threshold", type=float, help="Another τ than the dtype's; of integers the largest difference.")
def check_command(
    golden: Path, output: Path, same_precision: Path | None, declared_dtype: str | None, threshold: float | None
) -> int:
    """Compare tensors in .safetensors or .npy files by the judge's rules; the comparison as JSON.

    Tensors belong together by their names, in .npy files by their order. The exit code is 0 if they are accepted,
    1 if not, 2 where files or options are wrong.
    """
    if threshold is not None and not 0 <= threshold < LARGEST_THRESHOLD:
        raise UsageError(f"--threshold {threshold}: it must be a number from 0 to below {LARGEST_THRESHOLD}")
    from kernel_eval.check.pairs import compare_pairs
    from kernel_eval.check.tensor_files import read_tensors
    from kernel_eval.report.codec import to_plain

    wanted, found = read_tensors(golden), read_tensors(output)
    peers = read_tensors(same_precision) if same_precision else None
    compared = compare_pairs(wanted, found, peers, declared_dtype, threshold)
    click.echo(json.dumps(to_plain(compared), allow_nan=False))
    return 0 if compared.accepted else NOT_ACCEPTED
