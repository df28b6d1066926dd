"""While a case is played, the next one's process is begun: never more than that, and none is left over."""

from __future__ import annotations

import pytest

from kernel_eval.errors import EvaluationStopped
from kernel_eval.model import Event, Verdict
from kernel_eval.runner.box import RunBox
from kernel_eval.runner.conduct import CaseChild
from tests.factories.candidates import RIGHT
from tests.kernel_eval.pipeline.conftest import Judge
from tests.kernel_eval.pipeline.test_verdicts import verdicts

pytestmark = pytest.mark.sandbox
CASES = tuple(range(1, 11))


@pytest.fixture
def alive(monkeypatch: pytest.MonkeyPatch) -> list[set[CaseChild]]:
    """The children that were begun for single plays and not yet closed, after each begin and each end."""
    now: set[CaseChild] = set()
    seen: list[set[CaseChild]] = [set()]
    begin, close = RunBox.begin_play, CaseChild.close

    def begun(*given: object) -> CaseChild:
        child = begin(*given)  # type: ignore[arg-type]
        now.add(child)
        seen.append(set(now))
        return child

    def closed(child: CaseChild) -> None:
        close(child)
        now.discard(child)
        seen.append(set(now))

    monkeypatch.setattr(RunBox, "begin_play", begun)
    monkeypatch.setattr(CaseChild, "close", closed)
    return seen


def test_the_next_process_is_begun_while_one_plays(judge: Judge, alive: list[set[CaseChild]]) -> None:
    report = judge(RIGHT, case_ids=CASES)
    assert set(verdicts(report).values()) == {Verdict.ACCEPTED}
    assert max(map(len, alive)) == 2
    assert not alive[-1]
    assert len(set.union(*alive)) == len(CASES) + 1  # and one that lists the interfaces


class Enough(list[Event]):
    """Stops the evaluation at its seventh event."""

    def append(self, event: Event) -> None:
        super().append(event)
        if len(self) == 7:
            raise EvaluationStopped("the evaluation was asked to stop")


def test_processes_begun_ahead_end_with_an_evaluation_that_is_stopped(
    judge: Judge, alive: list[set[CaseChild]]
) -> None:
    with pytest.raises(EvaluationStopped):
        judge(RIGHT, case_ids=CASES, events=Enough())
    assert not alive[-1]
