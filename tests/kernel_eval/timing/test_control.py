"""The control kernel tells how steady the host was."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernel_eval.errors import NotMeasured
from kernel_eval.golden.baseline import write_baseline_package
from kernel_eval.runner.box import RunBox
from kernel_eval.runner.pool import Pool
from kernel_eval.settings import Settings
from kernel_eval.timing.control import CALLS, Control

pytestmark = pytest.mark.sandbox


def test_every_sample_is_kept_and_none_is_no_measurement(tmp_path: Path) -> None:
    write_baseline_package((), tmp_path / "package")
    settings = Settings(work_dir=tmp_path, cache_dir=tmp_path / "cache")
    pool = Pool(1 << 20)
    with RunBox(tmp_path / "package", settings, memory_bytes=1 << 30, trusted=True) as box:
        control = Control(box, pool, warmup=2)
        assert control.measurement() is None
        for _ in range(3):
            control.sample()
    pool.close()
    found = control.measurement()
    assert found is not None
    assert (len(found.samples_us), found.calls) == (3, CALLS)
    assert 0.5 < min(found.samples_us) <= max(found.samples_us) < 100_000


def test_a_package_without_it_is_our_fault(tmp_path: Path) -> None:
    (tmp_path / "package" / "cann_bench").mkdir(parents=True)
    (tmp_path / "package" / "cann_bench" / "__init__.py").write_text("")
    settings = Settings(work_dir=tmp_path, cache_dir=tmp_path / "cache")
    pool = Pool(1 << 20)
    with (
        RunBox(tmp_path / "package", settings, memory_bytes=1 << 30) as box,
        pytest.raises(NotMeasured, match="control"),
    ):
        Control(box, pool, warmup=2).sample()
    pool.close()
