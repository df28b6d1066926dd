"""Known outputs of timed processes are judged with the inputs that lie beside them in the pool."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from kernel_eval.evaluation.calls import call_of
from kernel_eval.evaluation.goldens import Goldens
from kernel_eval.evaluation.known import KnownOutputs
from kernel_eval.golden.cache import GoldenCache
from kernel_eval.golden.call import result_specs
from kernel_eval.golden.native import NativeRunner
from kernel_eval.runner.pool import Pool
from kernel_eval.suite import load_suite
from tests.factories.tasks import PROTO, write_suite

Y = "  - {name: y, dtype: same as x, shape: same as x}\n"
INDICES = "  - {name: i, dtype: int64, shape: same as x, index: {into: x, axis: -1, values: y, up_to_position: true}}\n"
GOLDEN = "def golden(x, factor=2.0):\n    return tuple(x.cummin(-1))\n"
TABLE = """\
case_id,shapes,dtypes,attributes,values,note
1,"[[8, 40]]","[""float16""]",{},uniform -1 1,
"""


@pytest.fixture
def pool() -> Iterator[Pool]:
    made = Pool(1 << 20)
    yield made
    made.close()


def test_every_trial_is_judged_by_its_own_inputs(tmp_path: Path, pool: Pool) -> None:
    proto = PROTO.replace(Y, Y + INDICES)
    suite = load_suite(write_suite(tmp_path / "suite", proto=proto, golden=GOLDEN, table=TABLE), "tiny")
    operator, (case,) = suite.operator("double"), suite.cases_of("double")
    with NativeRunner() as native:
        goldens = Goldens(suite, GoldenCache(tmp_path / "cache", 1 << 20), native)
        pool.lay_out(call_of(operator, case, result_specs(operator, case)), 3)
        known = KnownOutputs(goldens, operator, case, 2, pool)
        for trial, index in ((0, 2), (1, 0)):
            goldens.fill(operator, case, trial, pool.inputs(index))
            values, indices = pool.inputs(index)[0].cummin(-1)
            outputs = pool.outputs(index)
            outputs[0][0].copy_(values)
            outputs[1][0].copy_(indices)
            assert known.verify(trial, index).accepted
        assert not known.verify(0, 0).accepted
        pool.outputs(0)[1][0][3, 0] = 39
        wrong = known.verify(1, 0)
    assert (wrong.rule, wrong.worst is not None) == ("index.position", True)
    assert not torch.equal(pool.inputs(0)[0], pool.inputs(2)[0])
