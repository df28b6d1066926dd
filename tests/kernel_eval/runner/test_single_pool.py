"""Pools for single plays hold one buffer and no more."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from kernel_eval.errors import InternalError
from kernel_eval.runner.box import RunBox
from kernel_eval.runner.layout import lay_out
from kernel_eval.runner.plan import plan_content
from kernel_eval.runner.play import PlayStatus
from kernel_eval.runner.single_pool import SinglePool

from .calls import call_of


@pytest.fixture
def single() -> Iterator[SinglePool]:
    pool = SinglePool(1 << 20)
    yield pool
    pool.close()


def test_it_takes_the_tensors_memory_and_poisons_outputs(single: SinglePool) -> None:
    single.lay_out(call_of("f", (1 << 20,)))
    assert single.layout.size_bytes(single.layout.inputs) == single.layout.size_bytes(single.layout.outputs) == 4 << 20
    assert torch.isnan(single.outputs(0)[0][0]).all()


def test_more_buffers_and_warm_ups_are_refused(single: SinglePool) -> None:
    with pytest.raises(ValueError, match="one buffer, not 2"):
        single.lay_out(call_of("f"), 2)
    single.lay_out(call_of("f"))
    with pytest.raises(InternalError, match="warm-up"):
        single.warmup_inputs()
    layout = lay_out(call_of("f"), 1, warmup=False)
    windows = (layout.window(layout.inputs, [0]), layout.window(layout.outputs, [0]))
    with pytest.raises(ValueError, match="without a buffer for the warm-up"):
        plan_content(layout, [0], 1, windows, 0, 0)


@pytest.mark.sandbox
@pytest.mark.parametrize("elements", [5, 5 << 20])
def test_a_case_is_played_in_it(behaviours: RunBox, single: SinglePool, elements: int) -> None:
    """Small outputs lie in a file of their own, large ones in the pool."""
    call = call_of("exp", (elements,))
    single.lay_out(call)
    single.inputs(0)[0].fill_(1.0)
    play = behaviours.play(call, single, 0, 30.0)
    assert play.status is PlayStatus.OK, play.detail
    assert torch.equal(single.outputs(0)[0][0], torch.ones(elements).exp())
