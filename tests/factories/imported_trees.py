"""Task trees imported for tests, and what a refused one was told."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernel_eval.errors import SuiteInvalid
from kernel_eval.model import Suite
from kernel_eval.suite.imported.store import keep
from kernel_eval.suite.imported.task_tree import gather_task_tree

WHEN = "2026-01-01T00:00:00+00:00"


def imported(root: Path, home: Path, name: str = "mine") -> Suite:
    return keep(gather_task_tree(root), home, name, "1.0.0", WHEN, replace=False)


def faults_of(root: Path) -> str:
    with pytest.raises(SuiteInvalid) as caught:
        gather_task_tree(root)
    return str(caught.value)
