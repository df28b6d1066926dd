"""Memory for single plays: one buffer, no warm-up, touched no more than once."""

from __future__ import annotations

import torch

from kernel_eval.errors import InternalError
from kernel_eval.model import CallSpec
from kernel_eval.runner.layout import lay_out
from kernel_eval.runner.pool import Pool


class SinglePool(Pool):
    """A pool of one buffer for cases that are played once.

    A case takes its inputs and outputs of memory and no more: there is no warm-up buffer, and since
    one process maps it, bringing it into huge pages first would cost more than it saves.
    """

    def lay_out(self, call: CallSpec, count: int = 1) -> None:
        """Arrange the one buffer; poison its outputs. Raises `ValueError` for any other `count`."""
        if count != 1:
            raise ValueError(f"a single pool has one buffer, not {count}")
        self._arrange(lay_out(call, 1, warmup=False), [0])
        self.poison()

    def warmup_inputs(self) -> list[torch.Tensor]:
        """Raises `InternalError`: there are none."""
        raise InternalError("a single pool has no buffer for the warm-up")
