"""Every operator whose cost is known."""

from __future__ import annotations

from kernel_eval.errors import UsageError
from kernel_eval.hap.cost import CostRecord, Work
from kernel_eval.hap.level1 import LEVEL1
from kernel_eval.model import Case

RECORDS: dict[str, CostRecord] = {**LEVEL1}
"""Cost by operator name."""


def work_of(case: Case) -> Work:
    """The work of a case; raises `UsageError` for an operator without a cost record, naming those that have one."""
    record = RECORDS.get(case.operator)
    if record is None:
        raise UsageError(f"no cost record for operator {case.operator!r}; there are {', '.join(sorted(RECORDS))}")
    return record.work(case)
