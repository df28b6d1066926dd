from __future__ import annotations

import json
from pathlib import Path

import pytest

from kernel_eval.cli import main
from kernel_eval.hap import CacheLevel, CpuPeaks, save_peaks


@pytest.mark.parametrize("preset", ["compat", "spec"])
def test_limits_of_a_suite_are_one_row_per_case(capsys: pytest.CaptureFixture[str], preset: str) -> None:
    assert main(["hap", "--hardware", "910b2", "--preset", preset, "-o", "exp"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["case_id"] for row in rows] == list(range(1, 21))
    assert all(row["limit_us"] >= max(row["units"].values()) for row in rows)
    assert {row["preset"] for row in rows} == {preset}


def test_a_hosts_limits_come_from_its_peaks(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    near = (CacheLevel(1, 2**16, 4e11), CacheLevel(2, 2**20, 2e11))
    rates = {"b16": 2e11, "b32": 2e11, "b64": 1e11}
    peaks = CpuPeaks("Model T", 2, 2, 2e10, 3e10, 2**25, 6e10, near, {"float32": 2e11}, rates)
    save_peaks(peaks, tmp_path / "peaks.json")
    assert main(["hap", "--peaks", str(tmp_path / "peaks.json"), "-o", "sigmoid", "-c", "1"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["preset"] == "roofline"
    assert row["limit_us"] > 0


def test_unknown_hardware_is_named_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hap", "--hardware", "911"]) == 2
    said = capsys.readouterr().err
    assert "unknown hardware '911'" in said
    assert "910b2" in said
    assert said.count("\n") == 1
