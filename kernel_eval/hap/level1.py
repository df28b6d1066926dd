"""Costs of the eight operators of level 1.

The counts per element were calibrated once against the published limits of
910B2 (`docs/spec/hap.md`); where memory always bounds an operator its vector
count can't be identified there, and the operations of its formula are counted.
"""

from __future__ import annotations

import math

from kernel_eval.errors import UsageError
from kernel_eval.hap.cost import CostRecord, Lanes, VectorWork, elements_of, lanes_of, required, widened
from kernel_eval.model import Attribute, Case, TensorSpec


def _like_first(case: Case) -> tuple[TensorSpec, ...]:
    return required(case, 0)


def _number(case: Case, name: str, default: float) -> float:
    value: Attribute = case.attributes.get(name, default)
    if value is None or isinstance(value, str | tuple):
        raise UsageError(f"{case.key}: attribute {name} is {value!r}, not a number")
    return float(value)


def _elementwise(case: Case, ops: float, casts: float, *, hard: float = 2, promoted: bool = False) -> VectorWork:
    """`ops` per element of the first input; `casts` more where it is widened."""
    tensors = required(case, 0)
    lanes = lanes_of(tensors[0].dtype, promoted=promoted)
    counted = casts if widened(tensors[0].dtype, lanes) else 0
    return VectorWork(elements_of(tensors), ops, counted, lanes, hard)


def _exp(case: Case) -> VectorWork:
    scaled = _number(case, "scale", 1.0) != 1
    shifted = _number(case, "shift", 0.0) != 0
    based = _number(case, "base", -1.0) > 0
    return _elementwise(case, 2 + scaled + shifted + based, 2, hard=1, promoted=True)


def _gelu(case: Case) -> VectorWork:
    return _elementwise(case, 10 if case.attributes.get("approximate", "none") == "tanh" else 6, 2)


def _norm(case: Case) -> VectorWork:
    """|x|^p and a sum: two operations for the usual p, a power of seven otherwise (on 32-bit lanes)."""
    power = _number(case, "scalar", 2.0)
    usual = power in (-1.0, 0.0, 1.0, 2.0) or math.isinf(power)
    return _elementwise(case, 2 if usual else 7, 1, promoted=True)


def _norm_outputs(case: Case) -> tuple[TensorSpec, ...]:
    """One 0-dim tensor for each of the list."""
    return tuple(TensorSpec(tensor.dtype, ()) for tensor in required(case, 0))


def _masked_scale(case: Case) -> VectorWork:
    """Two products; one more cast where the mask has another type than x."""
    work = _elementwise(case, 2, 2)
    differs = required(case, 1)[0].dtype != required(case, 0)[0].dtype
    return VectorWork(work.elements, work.ops, work.casts + differs, work.lanes, work.hard_ops)


def _halved(case: Case) -> tuple[TensorSpec, ...]:
    (tensor,) = required(case, 0)
    rank = len(tensor.shape)
    dim = int(_number(case, "dim", -1))
    if not -rank <= dim < rank:
        raise UsageError(f"{case.key}: dim {dim} is outside the {rank} dimensions of {list(tensor.shape)}")
    axis = dim % rank
    if tensor.shape[axis] % 2:
        raise UsageError(f"{case.key}: dimension {axis} of {list(tensor.shape)} is odd and can't be halved")
    halves = list(tensor.shape)
    halves[axis] //= 2
    return (TensorSpec(tensor.dtype, tuple(halves)),)


def _swi_glu(case: Case) -> VectorWork:
    """A sigmoid (8) and two products per output element; both halves and the output are cast."""
    (half,) = _halved(case)
    lanes: Lanes = lanes_of(half.dtype)
    return VectorWork(half.elements, 9, 3 if widened(half.dtype, lanes) else 0, lanes, 3)


LEVEL1: dict[str, CostRecord] = {
    "exp": CostRecord(
        _like_first, _exp, "2 for the exponential, 1 each for a scale, a shift and a base; 16-bit types computed wide"
    ),
    "foreach_addcdiv_scalar": CostRecord(
        _like_first, lambda case: _elementwise(case, 3, 4, hard=3), "division, product, sum of the formula"
    ),
    "foreach_norm": CostRecord(_norm_outputs, _norm, "calibrated: 7 for a general power, else power and sum"),
    "gelu": CostRecord(_like_first, _gelu, "calibrated: 6 by erf, 10 by tanh"),
    "masked_scale": CostRecord(_like_first, _masked_scale, "the two products of the formula"),
    "mish": CostRecord(_like_first, lambda case: _elementwise(case, 7, 2), "calibrated"),
    "sigmoid": CostRecord(_like_first, lambda case: _elementwise(case, 8, 2), "calibrated"),
    "swi_glu": CostRecord(_halved, _swi_glu, "a sigmoid and two products, one of them folded into it"),
}
"""Cost by operator name."""
