"""The candidate's box, which can be opened before this process has loaded torch."""

from __future__ import annotations

from pathlib import Path

from kernel_eval.model import ITEM_BYTES, Suite, element_count
from kernel_eval.runner.box import RunBox
from kernel_eval.settings import Settings

BOX_BYTES = 1 << 30
"""What a case may use of memory besides its tensors."""
PER_INPUT_BYTE = 8


def largest_input_bytes(suite: Suite) -> int:
    """Bytes of the inputs of the suite's largest case; outputs of no operator here exceed them by more than twice."""
    return max((element_count(case) * max(ITEM_BYTES[d] for d in case.dtypes) for case in suite.cases), default=0)


def box_memory_bytes(suite: Suite) -> int:
    """What a case's process may use."""
    return BOX_BYTES + PER_INPUT_BYTE * largest_input_bytes(suite)


def candidate_box(package_dir: Path, suite: Suite, settings: Settings) -> RunBox:
    """The box of a built package; its first process loads torch from the moment the box is entered."""
    return RunBox(package_dir, settings, memory_bytes=box_memory_bytes(suite))
