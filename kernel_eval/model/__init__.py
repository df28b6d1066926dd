"""Frozen nouns of the judge. Imports neither torch nor numpy."""

from kernel_eval.model.anchor import NO_LIMIT, UNITS, Anchor, AnchorSet, Bottleneck, Limit, Provenance
from kernel_eval.model.candidate import Build, Candidate
from kernel_eval.model.case import (
    Attribute,
    Case,
    InputShape,
    RangeKind,
    Shape,
    Split,
    ValueRange,
    element_count,
    tensor_shapes,
)
from kernel_eval.model.claim import Claim, Container, TensorClaim
from kernel_eval.model.events import (
    BuildFinished,
    BuildStarted,
    CaseJudged,
    CaseTimed,
    Event,
    InterfacesFound,
    OperatorFinished,
    OperatorStarted,
)
from kernel_eval.model.flag import Flag, FlagId, Severity
from kernel_eval.model.foreign import Foreign
from kernel_eval.model.interface import Interface, Place
from kernel_eval.model.measurement import Measurement, MeasurementState
from kernel_eval.model.operator import (
    AttributeSpec,
    Comparator,
    IndexRule,
    InputSpec,
    Level,
    Operator,
    OutputSpec,
    Reduction,
    SetRule,
    StatefulRule,
)
from kernel_eval.model.report import Report
from kernel_eval.model.result import CaseResult, Comparison, OperatorResult, Worst
from kernel_eval.model.spelling import identifier_of, spellings
from kernel_eval.model.suite import Suite
from kernel_eval.model.tensor import ITEM_BYTES, ArgumentSpec, CallSpec, ResultSpec, TensorSpec
from kernel_eval.model.tolerance import CARRIERS, DEFAULT_TOLERANCES, Tolerance, carrier
from kernel_eval.model.verdict import PRECEDENCE, Verdict, strongest

__all__ = [
    "CARRIERS",
    "DEFAULT_TOLERANCES",
    "ITEM_BYTES",
    "NO_LIMIT",
    "PRECEDENCE",
    "UNITS",
    "Anchor",
    "AnchorSet",
    "ArgumentSpec",
    "Attribute",
    "AttributeSpec",
    "Bottleneck",
    "Build",
    "BuildFinished",
    "BuildStarted",
    "CallSpec",
    "Candidate",
    "Case",
    "CaseJudged",
    "CaseResult",
    "CaseTimed",
    "Claim",
    "Comparator",
    "Comparison",
    "Container",
    "Event",
    "Flag",
    "FlagId",
    "Foreign",
    "IndexRule",
    "InputShape",
    "InputSpec",
    "Interface",
    "InterfacesFound",
    "Level",
    "Limit",
    "Measurement",
    "MeasurementState",
    "Operator",
    "OperatorFinished",
    "OperatorResult",
    "OperatorStarted",
    "OutputSpec",
    "Place",
    "Provenance",
    "RangeKind",
    "Reduction",
    "Report",
    "ResultSpec",
    "SetRule",
    "Severity",
    "Shape",
    "Split",
    "StatefulRule",
    "Suite",
    "TensorClaim",
    "TensorSpec",
    "Tolerance",
    "ValueRange",
    "Verdict",
    "Worst",
    "carrier",
    "element_count",
    "identifier_of",
    "spellings",
    "strongest",
    "tensor_shapes",
]
