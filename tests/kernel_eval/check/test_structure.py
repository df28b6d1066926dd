"""Structure is judged before any value."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from kernel_eval.check import compare_claims
from kernel_eval.check.structure import claim_of, compare_tensors
from kernel_eval.model import Claim, Container, ResultSpec, TensorClaim, TensorSpec, Verdict

GOOD = TensorClaim(exact_type=True, dtype="float32", shape=(2, 3), contiguous=True, on_device=True)
ONE = (ResultSpec("y", (TensorSpec("float32", (2, 3)),)),)
LISTED = (ResultSpec("y", (TensorSpec("float32", (2, 3)), TensorSpec("float32", ())), tensor_list=True),)


def single(claim: TensorClaim) -> list[Claim]:
    return [Claim(Container.TENSOR, 1, (claim,))]


def test_what_is_declared_passes() -> None:
    assert compare_claims(single(GOOD), ONE) is None


@pytest.mark.parametrize("container", [Container.LIST, Container.TUPLE])
def test_a_list_may_be_a_list_or_a_tuple(container: Container) -> None:
    assert compare_claims([Claim(container, 2, (GOOD, replace(GOOD, shape=())))], LISTED) is None


@pytest.mark.parametrize(
    ("claims", "results", "rule"),
    [
        (single(replace(GOOD, exact_type=False)), ONE, "type"),
        (single(replace(GOOD, on_device=False)), ONE, "device"),
        (single(replace(GOOD, dtype="float16")), ONE, "dtype"),
        (single(replace(GOOD, dtype="")), ONE, "dtype"),
        (single(replace(GOOD, shape=(3, 2))), ONE, "shape"),
        (single(replace(GOOD, shape=(6,))), ONE, "shape"),
        (single(replace(GOOD, contiguous=False)), ONE, "contiguity"),
        ([], ONE, "outputs"),
        (single(GOOD) * 2, ONE, "outputs"),
        ([Claim(Container.OTHER, 0, (), "NoneType")], ONE, "container"),
        ([Claim(Container.LIST, 1, (GOOD,))], ONE, "container"),
        ([Claim(Container.OTHER, 2, (GOOD, GOOD), "generator")], LISTED, "container"),
        (single(GOOD), LISTED, "container"),
        ([Claim(Container.LIST, 1, (GOOD,))], LISTED, "count"),
        ([Claim(Container.LIST, 2, (GOOD,))], LISTED, "count"),
    ],
)
def test_every_departure_is_named(claims: list[Claim], results: tuple[ResultSpec, ...], rule: str) -> None:
    refused = compare_claims(claims, results)
    assert refused is not None
    assert (refused.verdict, refused.rule) == (Verdict.WRONG_STRUCTURE, f"structure.{rule}")
    assert refused.message


def test_tensors_at_hand_are_described_truly() -> None:
    class Sub(torch.Tensor):
        pass

    assert claim_of(torch.zeros(2, 3)) == GOOD
    assert not claim_of(torch.zeros(2, 3).as_subclass(Sub)).exact_type
    assert not claim_of(torch.zeros(3, 2).t()).contiguous
    assert compare_tensors([[torch.zeros(2, 3)]], ONE) is None
    assert compare_tensors([], ONE) is not None
