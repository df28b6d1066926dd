"""The shared memory: where tensors lie and what its seals forbid."""

from __future__ import annotations

import mmap
import os

import pytest
import torch

from kernel_eval.errors import InternalError
from kernel_eval.model import ArgumentSpec, CallSpec, ResultSpec, TensorSpec
from kernel_eval.runner.layout import ALIGN_BYTES, PAGE_BYTES, lay_out
from kernel_eval.runner.memory import MemoryFile, SealedOnce
from kernel_eval.runner.pool import SEALED_BELOW_BYTES, Pool

from .calls import call_of, fill, floats

MIXED = CallSpec(
    "f",
    (
        ArgumentSpec("a", (TensorSpec("float16", (3,)),)),
        ArgumentSpec("b", (floats(5, 7), floats(), floats(0, 4)), True),
        ArgumentSpec("c", ()),
    ),
    {},
    (ResultSpec("y", (TensorSpec("bfloat16", (9,)), TensorSpec("int64", (2, 2))), True), ResultSpec("z", (floats(3),))),
)


def test_tensors_never_overlap_and_start_aligned() -> None:
    layout = lay_out(MIXED, 3)
    for side in (layout.inputs, layout.outputs):
        ends = 0
        for placed in side.flat:
            assert placed.offset % ALIGN_BYTES == 0
            assert placed.offset >= ends
            ends = placed.offset + placed.spec.size_bytes
        assert side.stride >= ends


def test_a_window_covers_its_buffers_in_whole_pages() -> None:
    layout = lay_out(call_of("f", (1000,)), 9)
    window = layout.window(layout.inputs, [3, 5])
    assert window.start % PAGE_BYTES == window.length % PAGE_BYTES == 0
    assert window.start <= 3 * layout.inputs.stride
    assert window.start + window.length >= 6 * layout.inputs.stride
    assert window.start + window.length <= layout.size_bytes(layout.inputs)


def test_views_write_through_and_keep_apart(pool: Pool) -> None:
    pool.lay_out(MIXED, 3)
    for index in range(3):
        for tensor in pool.inputs(index):
            tensor.fill_(index + 1)
    for index in range(3):
        assert [tuple(t.shape) for t in pool.inputs(index)] == [(3,), (5, 7), (), (0, 4)]
        assert all((tensor == index + 1).all() for tensor in pool.inputs(index))
    assert [[t.dtype for t in group] for group in pool.outputs(1)] == [[torch.bfloat16, torch.int64], [torch.float32]]


def test_outputs_are_poisoned_and_the_warm_up_buffer_is_zero(pool: Pool) -> None:
    pool.lay_out(call_of("f"), 2)
    fill(pool, 2)
    pool.warmup_inputs()[0].fill_(5)
    pool.outputs(0)[0][0].zero_()
    pool.lay_out(call_of("f"), 1)
    assert torch.isnan(pool.outputs(0)[0][0]).all()
    assert not pool.warmup_inputs()[0].any()


def test_poison_is_renewed_only_after_something_may_have_been_written(pool: Pool) -> None:
    pool.lay_out(call_of("f"), 1)
    pool.outputs(0)[0][0].zero_()
    pool.written()
    pool.poison()
    assert torch.isnan(pool.outputs(0)[0][0]).all()


def test_poison_leaves_out_what_is_still_read_and_takes_it_next_time(pool: Pool) -> None:
    pool.lay_out(call_of("f", (1000,)), 6)
    for index in range(6):
        pool.outputs(index)[0][0].fill_(index)
    pool.written()
    pool.poison(but=(4, 1))
    left = [index for index in range(6) if not torch.isnan(pool.outputs(index)[0][0]).all()]
    assert left == [1, 4]
    assert all((pool.outputs(index)[0][0] == index).all() for index in left)
    pool.poison()
    assert all(torch.isnan(pool.outputs(index)[0][0]).all() for index in range(6))


@pytest.mark.parametrize("but", [(), (0,), (0, 1, 2, 3, 4), (2, 3), (4,), (1, 3)])
def test_poison_covers_every_byte_in_the_end(pool: Pool, but: tuple[int, ...]) -> None:
    pool.lay_out(call_of("f", (7,)), 5)
    memory = pool._outputs.map
    size = pool.layout.size_bytes(pool.layout.outputs)
    memory[:size] = bytes(size)
    pool.written()
    pool.poison(but)
    assert memory[:size].count(0) == len(but) * pool.layout.outputs.stride
    pool.poison()
    assert memory[:size].count(0) == 0


def test_a_larger_case_replaces_the_memory() -> None:
    pool = Pool(PAGE_BYTES)
    pool.lay_out(call_of("f", (1 << 20,)), 2)
    fill(pool, 2)
    assert float(pool.inputs(1)[0][-1]) == 2.0
    pool.close()


def test_places_in_memory_are_drawn_anew_for_every_layout(pool: Pool) -> None:
    """A child that knew them could tell which of its calls are checked."""
    drawn = set()
    for _ in range(20):
        pool.lay_out(call_of("f"), 8)
        places = tuple(pool.place(index) for index in range(8))
        assert sorted(places) == list(range(8))
        drawn.add(places)
    assert len(drawn) > 15


@pytest.mark.parametrize("index", [-1, 2, 3])
def test_buffers_that_do_not_exist_are_refused(pool: Pool, index: int) -> None:
    pool.lay_out(call_of("f"), 2)
    with pytest.raises(IndexError):
        pool.inputs(index)
    with pytest.raises(IndexError):
        pool.outputs(index)


def test_a_pool_without_a_layout_says_so(pool: Pool) -> None:
    with pytest.raises(InternalError, match="lay_out"):
        pool.inputs(0)
    with pytest.raises(ValueError, match="at least one"):
        pool.lay_out(call_of("f"), 0)


class TestInputSeals:
    """Whoever gets the inputs' descriptor can read them, and nothing else."""

    @pytest.fixture
    def file(self) -> MemoryFile:
        return MemoryFile("inputs", 2 * PAGE_BYTES, read_only_outside=True)

    def test_it_is_read_only_and_stays_so(self, file: MemoryFile) -> None:
        with pytest.raises(PermissionError):
            mmap.mmap(file.shared, PAGE_BYTES, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
        with pytest.raises(OSError, match=r"Bad file descriptor|not permitted"):
            os.pwrite(file.shared, b"x", 0)

    def test_not_even_its_owner_can_write_map_shrink_or_grow_it(self, file: MemoryFile) -> None:
        again = os.open(f"/proc/self/fd/{file.shared}", os.O_RDWR)
        for change in (
            lambda: os.pwrite(again, b"x", 0),
            lambda: os.ftruncate(again, PAGE_BYTES),
            lambda: os.ftruncate(again, 3 * PAGE_BYTES),
            lambda: mmap.mmap(again, PAGE_BYTES, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE),
        ):
            with pytest.raises(PermissionError):
                change()
        os.close(again)

    def test_the_judge_still_writes_and_private_copies_stay_private(self, file: MemoryFile) -> None:
        file.fill(7, 0, 10)
        private = mmap.mmap(file.shared, PAGE_BYTES, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE)
        assert private[:10] == bytes([7]) * 10
        private[:10] = bytes(10)
        assert file.map[:10] == bytes([7]) * 10


class TestOutputSeals:
    """Outputs keep their size; small ones are frozen once their writer is dead."""

    def test_the_size_is_fixed(self) -> None:
        file = MemoryFile("outputs", PAGE_BYTES, read_only_outside=False)
        for size in (0, 2 * PAGE_BYTES):
            with pytest.raises(PermissionError):
                os.ftruncate(file.shared, size)
        file.close()

    def test_a_fresh_file_is_poisoned_then_sealed(self) -> None:
        file = SealedOnce(PAGE_BYTES)
        assert os.pread(file.shared, 4, 0) == b"\xff" * 4
        os.pwrite(file.shared, b"good", 0)
        content = file.seal()
        assert content[:4] == b"good"
        with pytest.raises(PermissionError):
            os.pwrite(file.shared, b"evil", 0)
        file.close()

    def test_a_file_that_somebody_still_maps_cannot_pass_for_sealed(self) -> None:
        file = SealedOnce(PAGE_BYTES)
        writer = mmap.mmap(file.shared, PAGE_BYTES)
        with pytest.raises(InternalError, match="cannot be sealed"):
            file.seal()
        writer.close()
        file.close()

    def test_large_outputs_use_the_pool_itself(self, pool: Pool) -> None:
        pool.lay_out(call_of("f", (SEALED_BELOW_BYTES // 4,)), 1)
        assert pool.fresh_outputs(0) is None
        pool.lay_out(call_of("f"), 1)
        fresh = pool.fresh_outputs(0)
        assert fresh is not None
        fresh[0].close()
