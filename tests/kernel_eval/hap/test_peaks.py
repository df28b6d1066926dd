from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import pytest

from kernel_eval.errors import UsageError
from kernel_eval.hap import (
    Match,
    best_of,
    compare_fingerprints,
    load_peaks,
    peaks_from_json,
    peaks_to_json,
    save_peaks,
)

from .conftest import new_peaks


def test_peaks_survive_their_file(tmp_path: Path) -> None:
    save_peaks(new_peaks(stable=False, probed_at="2026-07-01"), tmp_path / "peaks.json")
    assert load_peaks(tmp_path / "peaks.json") == new_peaks(stable=False, probed_at="2026-07-01")
    assert [file.name for file in tmp_path.iterdir()] == ["peaks.json"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "no JSON"),
        ("[]", "these keys are needed"),
        ("{}", "these keys are needed"),
        (json.dumps(json.loads(peaks_to_json(new_peaks())) | {"extra": 1}), "these keys are needed"),
        (json.dumps(json.loads(peaks_to_json(new_peaks())) | {"near": [{"size": 1}]}), "wrong type"),
        (json.dumps(json.loads(peaks_to_json(new_peaks())) | {"cache_bytes": "many"}), "wrong type"),
        (json.dumps(json.loads(peaks_to_json(new_peaks())) | {"memory_bytes_per_s": 0}), "above zero"),
    ],
)
def test_a_file_that_holds_no_peaks_is_refused_in_one_line(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as refusal:
        peaks_from_json(text, "peaks.json")
    assert "\n" not in str(refusal.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.json: can't be read"):
        load_peaks(tmp_path / "none.json")


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_a_rate_that_is_no_rate_is_refused(bad: float) -> None:
    with pytest.raises(UsageError, match="above zero"):
        new_peaks(memory_bytes_per_s=bad)


@pytest.mark.parametrize(
    ("change", "stable", "match"),
    [
        ({}, True, Match.SAME),
        ({"memory_bytes_per_s": 20.9e9}, True, Match.SAME),
        ({"memory_bytes_per_s": 19.1e9}, True, Match.SAME),
        ({"memory_bytes_per_s": 21.2e9}, True, Match.DIFFERENT),
        ({"memory_bytes_per_s": 18.8e9}, True, Match.DIFFERENT),
        ({"memory_bytes_per_s": 18.8e9}, False, Match.INCONCLUSIVE),
        ({"cpu_model": "Model A"}, False, Match.DIFFERENT),
        ({"cores": 4}, True, Match.DIFFERENT),
        ({"threads": 1}, True, Match.DIFFERENT),
    ],
)
def test_a_host_more_than_five_percent_off_is_another(change, stable, match) -> None:
    outcome = compare_fingerprints(new_peaks().fingerprint(), new_peaks(**change).fingerprint(), stable=stable)
    assert outcome.match is match
    assert bool(outcome.reasons) == (match is not Match.SAME)


def test_two_probes_join_to_the_higher_of_each_rate() -> None:
    first = new_peaks(memory_bytes_per_s=19e9, flops={"float32": 3e9, "float64": 1e9})
    second = new_peaks(memory_bytes_per_s=25e9, flops={"float32": 2e9, "float64": 2e9})
    joined = best_of(first, second)
    assert joined.memory_bytes_per_s == 25e9
    assert joined.flops == {"float32": 3e9, "float64": 2e9}


def test_probes_of_two_hosts_do_not_join() -> None:
    with pytest.raises(UsageError, match="two hosts"):
        best_of(new_peaks(), new_peaks(cpu_model="Model A"))


def test_limits_and_scores_load_neither_torch_nor_numpy_nor_yaml() -> None:
    heavy = "('torch', 'numpy', 'yaml')"
    code = f"import sys, kernel_eval.hap, kernel_eval.score; print([m for m in {heavy} if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
