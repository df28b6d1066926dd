"""What a `constrain` function draws from: structures in the same bits on every machine.

Only the generator's raw words and exact or correctly rounded operations are used:
numpy may change its distributions, and sines differ between processors.
"""

from __future__ import annotations

import numpy as np
import torch

from kernel_eval.cases.streams import words64

_UNIT = 2.0**-53


class Draws:
    """Random structures from one stream; each call goes on where the last one ended."""

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator

    def integers(self, low: int, high: int, count: int) -> torch.Tensor:
        """`count` integers from `low` to `high` inclusive, as int64. Raises `ValueError` for an empty range."""
        if high < low:
            raise ValueError(f"there is no integer from {low} to {high}")
        offsets = words64(self._generator, count) % np.uint64(high - low + 1)
        return torch.from_numpy(offsets.astype(np.int64)).add_(low)

    def floats(self, low: float, high: float, count: int) -> torch.Tensor:
        """`count` numbers from `low` up to `high`, in FP64."""
        words = words64(self._generator, count) >> np.uint64(11)
        return torch.from_numpy(words.astype(np.float64)).mul_(_UNIT).mul_(high - low).add_(low)

    def permutation(self, count: int) -> torch.Tensor:
        """The numbers below `count` in random order."""
        return torch.from_numpy(np.argsort(words64(self._generator, count), kind="stable").astype(np.int64))

    def distinct(self, count: int, below: int) -> torch.Tensor:
        """`count` different numbers below `below`, such as targets of a scatter without reduction."""
        if count > below:
            raise ValueError(f"there are no {count} different numbers below {below}")
        return self.permutation(below)[:count]

    def counts(self, total: int, groups: int) -> torch.Tensor:
        """Sizes of `groups` groups that add up to `total`: uneven, and some may be empty."""
        return torch.diff(self.offsets(total, groups), prepend=torch.zeros(1, dtype=torch.int64))

    def offsets(self, total: int, groups: int) -> torch.Tensor:
        """Where each of `groups` uneven groups ends, ascending up to `total`."""
        inner = self.integers(0, total, groups - 1).sort().values
        return torch.cat([inner, torch.tensor([total])])

    def mask(self, share: float, count: int) -> torch.Tensor:
        """`count` booleans, about `share` of them true."""
        return self.floats(0.0, 1.0, count) < share

    def rotations(self, count: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Cosines and sines of `count` angles all round, in FP64, without a trigonometric function.

        With t = tan(angle / 2) they are (1 − t²) / (1 + t²) and 2 t / (1 + t²); t stays below 1, signs do the rest.
        """
        half = self.floats(-1.0, 1.0, count)
        below = 1 + half * half
        sign = torch.where(self.mask(0.5, count), 1.0, -1.0).double()
        return sign * (1 - half * half) / below, 2 * half / below

    def boxes(self, extent: float, count: int) -> torch.Tensor:
        """`count` boxes (x1, y1, x2, y2) within `extent`, in FP64, with x1 ≤ x2 and y1 ≤ y2."""
        corners = self.floats(0.0, extent, 4 * count).view(count, 2, 2)
        return torch.stack([corners.amin(1), corners.amax(1)], 1).view(count, 4)

    def scores(self, count: int) -> torch.Tensor:
        """`count` different numbers in (0, 1], in FP64, so that an order by them has no ties."""
        return (self.permutation(count) + 1).double().div_(max(count, 1))

    def tie(self, tensor: torch.Tensor, share: float) -> None:
        """Make about `share` of a contiguous tensor's elements copies of others, where ties are legal."""
        flat = tensor.view(-1)
        if not flat.numel():
            return
        places = self.mask(share, flat.numel()).nonzero().view(-1)
        sources = self.integers(0, flat.numel() - 1, places.numel())
        flat[places] = flat[sources]
