"""The benchmarks on small work: they measure what they say, and their figures can miss an aim."""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import case_overhead, exp_shapes, input_generation, start
from benchmarks.support.judged import Finished, kernel_eval, ready_source, run
from kernel_eval.model import RangeKind
from kernel_eval.suite import default_bench_data, load_suite
from tests.factories.judged_reports import PEAKS

ENTRIES = [
    ([3, 5], "float16", [-1, 2]),
    ([7], "bfloat16", ["-inf", "inf"]),
    ([2, 2], "float32", ["nan", "nan"]),
    ([1 << 13], "float32", [0, 0]),
]


@pytest.fixture
def figures(tmp_path: Path) -> Path:
    """A file in the form of the published figures, its values our own."""
    attributes = {"base": 1.0, "scale": 0.5, "shift": 0.0}
    cases = [
        {"case_id": at, "input_shapes": [shape], "dtypes": [dtype], "attrs": attributes, "value_range": values}
        for at, (shape, dtype, values) in enumerate(ENTRIES, 1)
    ]
    path = tmp_path / "figures.json"
    path.write_text(json.dumps({"exp": cases, "other": []}))
    return path


def printed(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def test_input_generation_compares_every_kind_with_the_naive_way(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["input_generation", "--elements", "70000", "--rounds", "2"])
    code = input_generation.main()
    found = printed(capsys)
    assert set(found["millions_per_s"]) > {"float32_symmetric", "float32_boundary", "float32_nan", "naive_float32"}
    rate = found["slowest_plain_millions_per_s"]
    assert found["aims"]["ns_per_value"]["met"] is (code == 0) is (rate >= input_generation.MILLIONS_PER_S)


def test_the_published_cases_become_a_suite_of_the_judge(figures: Path, tmp_path: Path) -> None:
    cases = exp_shapes.published_cases(figures, 1 << 62)
    kinds = [case.value_ranges[0].kind for case in cases]
    assert kinds == [RangeKind.UNIFORM, RangeKind.INF, RangeKind.NAN, RangeKind.UNIFORM]
    exp_shapes.write_tasks(cases, tmp_path / "tasks")
    assert load_suite(tmp_path / "tasks", exp_shapes.SUITE).cases == cases
    assert len(exp_shapes.published_cases(figures, 100)) == 3
    with pytest.raises(ValueError, match="no case of exp"):
        exp_shapes.published_cases(figures, 1)


@pytest.mark.sandbox
def test_the_stages_of_a_case_add_up(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["case_overhead", "--rounds", "1"])
    code = case_overhead.main()
    found = printed(capsys)
    stages = found["stages"]
    assert (code == 0) is found["aims"]["overhead_ms"]["met"]
    assert stages["total_ms"]["samples"] == found["cases"]
    assert stages["total_ms"]["least"] >= stages["overhead_ms"]["least"] > 0
    assert 0 < found["overhead_to_bare_fork"] < 100


@pytest.mark.parametrize("absent", ["absent.json", None])
def test_without_published_figures_one_line_says_so(
    absent: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a path was given it is a mistake; where none was, there is nothing to measure."""
    default = tmp_path / "default.json"
    monkeypatch.setattr(exp_shapes, "FIGURES", default)
    monkeypatch.setattr(sys, "argv", ["exp_shapes", *([str(tmp_path / absent)] if absent else [])])
    assert exp_shapes.main() == (2 if absent else 0)
    (line,) = capsys.readouterr().err.splitlines()
    assert (absent or "default.json") in line


def test_wrong_and_slow_are_told_from_right_and_fast() -> None:
    cases = [{"verdict": "accepted", "seconds": 1.0}, {"verdict": "wrong_values", "seconds": 2.0}]
    output = json.dumps({"operators": [{"cases": cases}]})
    assert exp_shapes.outcome(Finished(9.0, 100.0, 1, output, ())) == {
        "seconds": 9.0,
        "peak_mib": 100.0,
        "accepted": 1,
        "playing_s": 3.0,
    }
    with pytest.raises(RuntimeError, match="ended with 3: the sandbox is incomplete"):
        exp_shapes.outcome(Finished(9.0, 100.0, 3, "", ((0.1, "the sandbox is incomplete"),)))


def test_a_watched_process_tells_its_time_memory_and_lines() -> None:
    program = "import sys, time; print('out'); print('first', file=sys.stderr); time.sleep(.3); x = b'x' * (500 << 20)"
    found = run([sys.executable, "-c", program + "; sys.stderr.write('last'); sys.exit(7)"])
    assert (found.code, found.output) == (7, "out\n")
    assert found.seconds >= 0.3
    assert found.first("last") - found.first("first") >= 0.3
    own_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # what the kernel hands on
    assert 500 <= found.peak_mib <= max(700, own_mib + 50)
    with pytest.raises(RuntimeError, match="no line said 'other'"):
        found.first("other")


@pytest.mark.slow
@pytest.mark.sandbox
def test_the_cases_are_judged_in_a_process_whose_figures_are_kept(
    figures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exp_shapes, "probe", lambda threads: PEAKS)  # correctness does not look at them
    bench = exp_shapes.prepare(tmp_path, exp_shapes.published_cases(figures, 1 << 62), example=False)
    found = exp_shapes.outcome(bench.judge())
    assert found["accepted"] == len(ENTRIES)
    assert 100 < found["peak_mib"] < 1500
    assert list((bench.cache / "goldens").glob("??/*.golden"))


def test_starts_are_told_from_the_lines_of_eval(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ((1.5, "[    0.9 s] exp: 1 cases (1 of 1)"), (1.6, "[    1.0 s]   public 1: accepted: first_screen"))
    said: list[list[str]] = []

    def pretended(words: list[str]) -> Finished:
        said.append(words)
        return Finished(2.0, 50.0, 0, "", lines)

    monkeypatch.setattr(start, "probe", lambda threads: PEAKS)
    monkeypatch.setattr(start, "arena_library", lambda cache: cache)
    monkeypatch.setattr(start, "kernel_eval", pretended)
    monkeypatch.setattr(start, "run", lambda words: Finished(0.7, 50.0, 0, "", ()))
    starts = start.Starts(tmp_path)
    starts.sample()
    assert starts.samples["timed_first_case_s"] == [1.5]
    assert starts.samples["correctness_first_verdict_s"] == [1.6]
    assert (starts.samples["list_s"], starts.samples["import_torch_s"]) == ([2.0], [0.7])
    assert [("--no-perf" in words) for words in said[:2]] == [True, False]


def test_a_ready_submission_holds_one_wheel(tmp_path: Path) -> None:
    operator = load_suite(default_bench_data(), "cann-bench-small").operator("exp")
    source = ready_source(tmp_path, [operator], example=False)
    assert [path.name for path in (source / "dist").iterdir()] == ["cann_bench-1.0-py3-none-any.whl"]


def test_list_is_a_process_that_answers() -> None:
    assert "exp" in kernel_eval(["list"]).output
