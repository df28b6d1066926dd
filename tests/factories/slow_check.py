"""The rules of correctness once more, element by element in plain Python: slow and obviously right."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch

FIGURES = {
    # dtype: (τ, τ_sv, ε_sv, τ_cb, largest finite, smallest subnormal, k)
    torch.float16: (2**-10, 2**-11, 2**-16, 2**-5, 65504.0, 2**-24, 1),
    torch.bfloat16: (2**-7, 2**-8, 2**-16, 2**-3, float(torch.finfo(torch.bfloat16).max), 2**-133, 1),
    torch.float32: (2**-13, 2**-14, 2**-30, 2**-8, float(torch.finfo(torch.float32).max), 2**-149, 16),
    torch.float8_e4m3fn: (2**-3, 2**-4, 2**-6, 2**-1, 448.0, 2**-9, 1),
    torch.float8_e5m2: (2**-2, 2**-3, 2**-5, 2**0, 57344.0, 2**-16, 1),
}
HIFLOAT32 = (2**-11, 2**-12, 2**-28, 2**-8, float(torch.finfo(torch.float32).max), 2**-149, 16)
"""Of the compute format that float32 tensors carry."""
Figures = tuple[float, float, float, float, float, float, float]


@dataclass
class Element:
    """One position that counts."""

    golden: float
    found: float
    peer: float

    @property
    def difference(self) -> float:
        return abs(self.found - self.golden)

    @property
    def error(self) -> float:
        return self.difference / (abs(self.golden) + 1e-7)


def accepts(
    found: torch.Tensor,
    golden: torch.Tensor,
    peer: torch.Tensor,
    relief: bool = False,
    figures: Figures | None = None,
) -> bool:
    """Whether one float tensor passes."""
    tau, tau_small, epsilon, tau_cancel, largest, tiniest, k = figures or FIGURES[found.dtype]
    elements = []
    for y_found, y, y_peer in zip(*(t.reshape(-1).double().tolist() for t in (found, golden, peer)), strict=True):
        if math.isnan(y_found) != math.isnan(y):
            return False
        if math.isnan(y):
            continue
        if math.isinf(y_found) and math.isinf(y):
            if y_found != y:
                return False
            continue
        clamp = [math.copysign(largest, value) if math.isinf(value) else value for value in (y, y_found)]
        elements.append(Element(clamp[0], clamp[1], y_peer))
    if not elements:
        return True
    if mean([e.error for e in elements]) < tau and not any(fails(e.found, e.golden, tau) for e in elements):
        return True
    small = [e for e in elements if abs(e.golden) < tau_small]
    rest = [e for e in elements if abs(e.golden) >= tau_small]
    cancel = [e for e in rest if abs(e.found) < tau_cancel and abs(e.golden) < tau_cancel]
    normal = [e for e in rest if not (abs(e.found) < tau_cancel and abs(e.golden) < tau_cancel)]

    peer_errors = [abs(e.peer - e.golden) for e in elements if math.isfinite(e.peer)]
    excused = k * max(peer_errors, default=0.0) if relief else -1.0
    if any(fails(e.found, e.golden, tau) and not e.difference <= excused for e in normal):
        return False
    if normal and not mean([e.error for e in normal]) < tau:
        return False
    peers = [e for e in elements if math.isfinite(e.peer)]
    wrong = sum(fails(e.found, e.golden, tau) and e.difference > epsilon for e in small)
    allowed = sum(
        fails(e.peer, e.golden, tau) and abs(e.golden) < tau_small and abs(e.peer - e.golden) > epsilon for e in peers
    )
    if wrong / max(allowed, 1) > 2:
        return False
    wrong = sum(fails(e.found, e.golden, tau) for e in cancel)
    allowed = sum(
        fails(e.peer, e.golden, tau) and tau_small <= abs(e.golden) < tau_cancel and abs(e.peer) < tau_cancel
        for e in peers
    )
    if wrong / max(allowed, 1) > 2:
        return False
    if any(abs(e.found) > 2 * tau_small for e in small):
        return False
    return not left_out(small, tiniest) and (bool(normal) or not left_out(cancel, tiniest))


def fails(value: float, golden: float, tau: float) -> bool:
    """Whether a value is failing at a position."""
    lost_sign = golden != 0 and (value == 0 or (value < 0) != (golden < 0))
    return abs(value - golden) / (abs(golden) + 1e-7) >= 10 * tau or (10 * tau >= 1 and lost_sign)


def left_out(region: Sequence[Element], tiniest: float) -> bool:
    """Whether the differences of a region add up to too much."""
    non_zero = [e for e in region if e.golden != 0]
    peer_sum = math.fsum(abs(e.peer - e.golden) for e in non_zero if math.isfinite(e.peer))
    bound = max(math.fsum(abs(e.golden) for e in non_zero) / 2, 2 * peer_sum) + len(non_zero) * tiniest
    return math.fsum(e.difference for e in non_zero) > bound


def mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
