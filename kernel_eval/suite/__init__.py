"""From a folder of files to a `Suite`, and back: loading, generating, validating, hidden cases, anchors.

Only this package knows YAML, TOML and CSV. Importing it loads none of them;
`kernel_eval.suite.digest` stays usable where they are not installed.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kernel_eval.model import Suite


def load_suite(bench_data: Path, name: str) -> Suite:
    """The suite `name` with its public cases, from `bench_data/suites/<name>.toml` and the operator folders,
    or from `bench_data/imported/<name>`.

    Raises `SuiteInvalid` with every fault that was found in any of the files.
    """
    from kernel_eval.suite.imported.store import is_imported, load_imported

    if is_imported(bench_data, name):
        return load_imported(bench_data, name)
    from kernel_eval.suite.loader import load

    return load(bench_data, name)


def default_bench_data() -> Path:
    """The folder of the public task set: `HAPBOARD_BENCH_DATA`, or the one of this checkout."""
    configured = os.environ.get("HAPBOARD_BENCH_DATA")
    return Path(configured) if configured else Path(__file__).resolve().parents[2] / "bench_data"
