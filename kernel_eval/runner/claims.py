"""Turns a child's messages into claims, and declared results into the claims of a value that matches them."""

from __future__ import annotations

from collections.abc import Sequence

from kernel_eval.model import Claim, Container, ResultSpec, TensorClaim
from kernel_eval.runner.printable import printable
from kernel_eval.runner.protocol import (
    CONTAINERS,
    CONTIGUOUS,
    DTYPES,
    EXACT_TYPE,
    MOST_DIMENSIONS,
    ON_DEVICE,
    Kind,
    Malformed,
    Message,
)

NAME_CHARACTERS = 60


def _tensor(message: Message) -> TensorClaim:
    flags, dtype, rank = message.values[:3]
    if not 0 <= dtype <= len(DTYPES) or not 0 <= rank <= 64:
        raise Malformed("dtype or rank")
    shape = message.values[3 : 3 + min(rank, MOST_DIMENSIONS)] + (0,) * max(rank - MOST_DIMENSIONS, 0)
    return TensorClaim(
        exact_type=bool(flags & EXACT_TYPE),
        dtype=DTYPES[dtype - 1] if dtype else "",
        shape=shape,
        contiguous=bool(flags & CONTIGUOUS),
        on_device=bool(flags & ON_DEVICE),
    )


def claims_of(messages: Sequence[Message]) -> tuple[Claim, ...]:
    """The claims in a list of OUTPUT and TENSOR messages. Raises `Malformed`."""
    found: list[Claim] = []
    for message in messages:
        if message.kind is Kind.OUTPUT:
            kind, count = message.values[:2]
            if not 0 <= kind < len(CONTAINERS) or count < 0:
                raise Malformed("container")
            found.append(Claim(Container(CONTAINERS[kind]), count, (), printable(message.text, NAME_CHARACTERS)))
        elif message.kind is Kind.TENSOR and found:
            last = found[-1]
            name = last.type_name if message.text == b"Tensor" else printable(message.text, NAME_CHARACTERS)
            tensors = (*last.tensors, _tensor(message))
            found[-1] = Claim(last.container, last.count, tensors, name)
        else:
            raise Malformed("order of claims")
    return tuple(found)


def declared(results: Sequence[ResultSpec]) -> tuple[Claim, ...]:
    """The claims of a value that is exactly as declared."""
    return tuple(
        Claim(
            Container.LIST if result.tensor_list else Container.TENSOR,
            len(result.tensors),
            tuple(TensorClaim(True, tensor.dtype, tensor.shape, True, True) for tensor in result.tensors),
            "list" if result.tensor_list else "Tensor",
        )
        for result in results
    )
