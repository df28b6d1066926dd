"""The second trial of imported suites: what the judge draws is moved, what a suite's own code makes is made anew."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest
import torch

from kernel_eval.cases.inputs import SECOND_TRIAL, tensor_specs
from kernel_eval.evaluation.imported import ImportedGoldens
from kernel_eval.golden.boxed import GoldenBox
from kernel_eval.golden.cache import GoldenCache
from kernel_eval.model import Foreign, InputSpec, Split, Suite
from kernel_eval.settings import Settings
from tests.factories.tasks import PLAIN, case_of, operator_of

HOOK = """
import torch

def get_input(x, turned):
    angle = torch.rand(turned.shape) * 6
    return [x, torch.cos(angle).square()]

def hooked(x, turned):
    return x * turned
"""
MODULE = """
import torch

class Model(torch.nn.Module):
    def forward(self, x, turned):
        return torch.log1p(-x * turned)

def get_inputs():
    return [torch.rand(64), torch.ones(64)]
"""
FILES = {"hooked": (HOOK, Foreign("hooked", inputs=True)), "moduled": (MODULE, Foreign("Model", module=True))}


@dataclass(frozen=True)
class Drawn:
    goldens: ImportedGoldens
    suite: Suite

    def inputs(self, name: str, trial: int) -> list[torch.Tensor]:
        operator, (case,) = self.suite.operator(name), self.suite.cases_of(name)
        into = [torch.empty(spec.shape) for spec in tensor_specs(operator, case)]
        self.goldens.fill(operator, case, trial, into)
        return into


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Drawn]:
    root = tmp_path_factory.mktemp("trials")
    operators, cases = [], []
    inputs = (InputSpec("x", ("float32",)), InputSpec("turned", ("float32",)))
    for name, (source, foreign) in FILES.items():
        operator = replace(operator_of(root / name, inputs=inputs), name=name, function=name, foreign=foreign)
        (operator.folder / "golden.py").unlink()
        (operator.folder / "foreign.py").write_text(source)
        operators.append(operator)
        cases.append(
            replace(case_of(operator, [(64,), (64,)], ["float32"] * 2), operator=name, value_ranges=(PLAIN, PLAIN))
        )
    suite = Suite("mine", "1", "0" * 64, tuple(operators), tuple(cases), {Split.PUBLIC: b"seed"})
    settings = Settings(root / "work", root / "cache", threads=2)
    settings.work_dir.mkdir()
    with GoldenBox(operators, settings, 0) as box:
        yield Drawn(ImportedGoldens(suite, GoldenCache(root / "cache", 1 << 20), box), suite)


@pytest.mark.sandbox
def test_a_hook_is_given_moved_floats_and_makes_its_own_anew_unmoved(drawn: Drawn) -> None:
    first, second = drawn.inputs("hooked", 0), drawn.inputs("hooked", SECOND_TRIAL)
    assert -1 <= first[0].min() <= first[0].max() <= 1
    plain = torch.empty(64)
    unhooked = replace(drawn.suite.operator("hooked"), foreign=Foreign("hooked"))
    (case,) = drawn.suite.cases_of("hooked")
    drawn.goldens.fill(unhooked, case, SECOND_TRIAL, [plain, torch.empty(64)])
    assert torch.equal(second[0], plain)
    assert not torch.equal(first[1], second[1])
    assert 0 <= second[1].min() <= second[1].max() <= 1


@pytest.mark.sandbox
def test_a_modules_inputs_are_drawn_anew_and_keep_their_range(drawn: Drawn) -> None:
    first, second = drawn.inputs("moduled", 0), drawn.inputs("moduled", SECOND_TRIAL)
    assert not torch.equal(first[0], second[0])
    assert second[0].max() < 1
    assert torch.equal(first[1], torch.ones(64))
    assert torch.equal(second[1], torch.ones(64))
