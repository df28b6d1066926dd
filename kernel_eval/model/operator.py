"""An operator of a suite: its signature, rules and place, as declared in `proto.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from kernel_eval.model.foreign import Foreign


class Level(StrEnum):
    """Level of difficulty, as the paper names them."""

    L1 = "L1"
    L2 = "L2"
    L3 = "L3"
    L4 = "L4"


class Comparator(StrEnum):
    """How one output is compared with its golden."""

    NUMERIC = "numeric"
    """Floats by relative error, integers and bool exactly (`judging.md` section 1)."""
    IGNORED = "ignored"
    """Declared `compare: false`: structure only."""
    INDEX = "index"
    """Positions in another tensor: judged by what is found there, so ties are free."""
    SET = "set"
    """The order of the elements is free, their number is not."""
    STATEFUL = "stateful"
    """An input after the call: what the operator does not touch must stay as it was, bit by bit."""
    ALLCLOSE = "allclose"
    """|output − golden| ≤ a + a·|golden|, with a by dtype; of imported module suites."""


class Reduction(StrEnum):
    """What an index along an axis points at where no output holds the value."""

    MAX = "max"
    MIN = "min"


@dataclass(frozen=True)
class IndexRule:
    """What an output of indices points at.

    The indexed tensor is the input `into`, or what the function `table` of the
    golden's file makes of all inputs and attributes. `axis` is a number or the
    attribute that holds one; None: the flattened tensor. The value found must be
    that of the output `values` at the same position or the `reduction` along the
    axis. `distinct`: no index twice along the axis. `up_to_position`: no index
    beyond its own position along the axis.
    """

    into: str = ""
    table: str = ""
    axis: int | str | None = None
    values: str = ""
    reduction: Reduction | None = None
    distinct: bool = False
    up_to_position: bool = False


@dataclass(frozen=True)
class SetRule:
    """Elements in any order along `axis`, a number or an attribute's name; None: in the whole tensor."""

    axis: int | str | None = None


@dataclass(frozen=True)
class StatefulRule:
    """The input `of` after the call. The function `touched` of the golden's file tells where the operator writes."""

    of: str
    touched: str = ""


@dataclass(frozen=True)
class InputSpec:
    """One input of an operator. `dtypes` are torch dtype names without the prefix."""

    name: str
    dtypes: tuple[str, ...]
    optional: bool = False
    tensor_list: bool = False


@dataclass(frozen=True)
class AttributeSpec:
    """One attribute: `type` is `int`, `float`, `str` or `bool`; `default` None means required.

    Operators of imported suites also have lists (`int[]`) and values that may be None (`float?`), with no default:
    their cases name every value.
    """

    name: str
    type: str
    default: int | float | str | bool | None = None
    allowed: tuple[int | float | str | bool, ...] = ()


@dataclass(frozen=True)
class OutputSpec:
    """One output. `dtype` is a dtype name, or `same as <input>`.

    `shape` is `same as <input>`, `scalar` (0-dim; one per tensor of the first
    input where it is a list), or `golden`: the golden's file has a function
    `result_shapes(**shapes, **attributes)` that returns one entry per output.
    """

    name: str
    dtype: str
    shape: str = "golden"
    tensor_list: bool = False
    comparator: Comparator = Comparator.NUMERIC
    non_finite: bool = True
    """Whether the golden may yield NaN or Inf from the declared inputs."""
    rule: IndexRule | SetRule | StatefulRule | None = None
    """What the comparators of these names demand; None for the others."""
    integer_tolerance: int = 0
    """Largest difference of an integer output's elements; above 0 for quantised outputs only."""
    signed_zero: bool = False
    """Whether −0.0 differs from 0.0."""
    computed_as: str = ""
    """A compute format, such as `hifloat32`, whose bounds hold where its carrier is the output's dtype."""
    dtypes: tuple[str, ...] = ()
    """Imported suites only, where `dtype` is `golden`: what the golden's run in native precision may yield."""


@dataclass(frozen=True)
class Operator:
    """A declared operator.

    `name` is the folder's name in snake case and the key everywhere; `function`
    is the schema's function name under which a candidate exports it.
    `thresholds` overrides τ per output dtype; in imported suites it also gives the largest difference per
    dtype of integers. `absolute_errors` gives, per output
    dtype, an absolute error that counts as none where the golden is small or
    cancelled; `threshold_reason` says why either, or an integer tolerance above 1, is there. `title` is the
    CamelCase name.
    """

    name: str
    title: str
    function: str
    level: Level
    category: str
    schema: str
    inputs: tuple[InputSpec, ...]
    attributes: tuple[AttributeSpec, ...]
    outputs: tuple[OutputSpec, ...]
    folder: Path
    thresholds: Mapping[str, float] = field(default_factory=dict)
    absolute_errors: Mapping[str, float] = field(default_factory=dict)
    threshold_reason: str = ""
    same_precision_relief: bool = False
    in_place: bool = False
    """Whether the operator writes into its inputs, so that the child maps them privately."""
    elementwise: bool = False
    """Whether an element of an output depends on the inputs' elements at its own place alone, so that a golden may be
    computed piece by piece."""
    foreign: Foreign | None = None
    """Set for an operator of an imported suite, whose golden is untrusted."""
