"""A suite: a versioned, digested set of operators and cases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from kernel_eval.model.case import Case, Split
from kernel_eval.model.operator import Level, Operator


@dataclass(frozen=True)
class Suite:
    """What is judged. `digest` covers every public file; `hidden_digest` the hidden overlay.

    `seeds` gives, per split, the seed of its input tensors; a hidden seed is
    known to workers alone and is left out of `repr`.
    """

    name: str
    version: str
    digest: str
    operators: tuple[Operator, ...]
    cases: tuple[Case, ...]
    seeds: Mapping[Split, bytes]
    hidden_digest: str | None = None
    season: str | None = None

    def __repr__(self) -> str:
        return f"Suite({self.name} {self.version}, {len(self.operators)} operators, {len(self.cases)} cases)"

    def operator(self, name: str) -> Operator:
        """The operator of that name; `KeyError` where the suite has none."""
        for operator in self.operators:
            if operator.name == name:
                return operator
        raise KeyError(name)

    def cases_of(self, operator: str) -> tuple[Case, ...]:
        """The operator's cases, public ones first, by id."""
        return tuple(case for case in self.cases if case.operator == operator)

    def select(
        self,
        levels: frozenset[Level] | None = None,
        operators: frozenset[str] | None = None,
        case_ids: frozenset[int] | None = None,
        splits: frozenset[Split] | None = None,
    ) -> Suite:
        """The part of the suite that the filters let through; None lets all through.

        The digests stay those of the whole suite.
        """
        kept = tuple(
            operator
            for operator in self.operators
            if (levels is None or operator.level in levels) and (operators is None or operator.name in operators)
        )
        names = {operator.name for operator in kept}
        cases = tuple(
            case
            for case in self.cases
            if case.operator in names
            and (case_ids is None or case.case_id in case_ids)
            and (splits is None or case.split in splits)
        )
        return replace(self, operators=kept, cases=cases)
