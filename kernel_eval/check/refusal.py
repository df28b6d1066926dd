"""Refusing a tensor because of single elements."""

from __future__ import annotations

from collections.abc import Callable

import torch

from kernel_eval.check.chunks import over_chunks
from kernel_eval.check.outcome import TensorOutcome


def refusal(rule: str, what: str, count: int, wrong_at: Callable[[int, int], torch.Tensor]) -> TensorOutcome | None:
    """A refusal by `rule` where `wrong_at(start, stop)` marks some of `count` elements; the first stands for all."""

    def piece(start: int, stop: int) -> tuple[int, int]:
        wrong = wrong_at(start, stop)
        return int(torch.count_nonzero(wrong)), start + int(wrong.to(torch.uint8).argmax())

    pieces = [(number, at) for number, at in over_chunks(count, piece) if number]
    if not pieces:
        return None
    number, first = sum(number for number, _ in pieces), pieces[0][1]
    message = f"{number} of {count} {what}, the first at {first}"
    return TensorOutcome(False, rule, message, worst=first, figures={"elements": count, "wrong": number})
