from __future__ import annotations

import math

import pytest
import torch

from kernel_eval.cases.distributions import EIGHT_BIT_NAN, WORDS, mark_nan

FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.float8_e4m3fn, torch.float8_e5m2)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_marked_elements_become_the_nan_that_torch_writes_and_no_other_bit_changes(dtype: torch.dtype) -> None:
    words = WORDS[dtype.itemsize]
    whole = torch.randint(0, 255, (7, 4096), dtype=torch.uint8).view(dtype)
    target = whole[:, 3:-5]
    marks = torch.randint(-1, 1, target.shape, dtype=torch.int8)
    nan = EIGHT_BIT_NAN if dtype.itemsize == 1 else int(torch.tensor(math.nan, dtype=dtype).view(words))
    expected = whole.clone().view(words)
    expected[:, 3:-5].masked_fill_(marks.bool(), nan)
    mark_nan(target, marks)
    assert torch.equal(whole.view(words), expected)
    assert bool(target.to(torch.float32).isnan()[marks.bool()].all())
