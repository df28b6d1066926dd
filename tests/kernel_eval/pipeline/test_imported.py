"""Whole runs on imported suites: foreign goldens, hooks and times in boxes, candidates judged by them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kernel_eval.cli import main
from kernel_eval.hap import save_peaks
from tests.factories.candidates import write_candidate
from tests.factories.foreign import CANDIDATE, SCALE_GOLDEN, write_operator, write_task_tree
from tests.factories.judged_reports import PEAKS


def judged(place: Path, tree: Path, source: str, *words: str) -> tuple[int, dict[str, object]]:
    """Import the tree, judge the source by it on the command line; the exit code and the JSON report."""
    home = place / "home"
    assert main(["suite", "import", str(tree), "--name", "mine", "--bench-data", str(home)]) == 0
    write_candidate(place / "candidate", source)
    save_peaks(PEAKS, place / "peaks.json")
    paths = ["--bench-data", str(home), "--reports-dir", str(place / "reports"), "--peaks", str(place / "peaks.json")]
    candidate = ["--source-dir", str(place / "candidate"), "--cache-dir", str(place / "cache")]
    code = main(["eval", "--suite", "mine", *candidate, *paths, *words])
    (report,) = (place / "reports").glob("*.json")
    return code, json.loads(report.read_text())


def verdicts(report: dict[str, object]) -> dict[str, str]:
    operators: list[dict[str, object]] = report["operators"]  # type: ignore[assignment]
    return {str(operator["operator"]): str(operator["verdict"]) for operator in operators}


@pytest.mark.sandbox
def test_a_right_candidate_is_accepted_and_timed_against_the_foreign_golden(tmp_path: Path) -> None:
    tree = write_task_tree(tmp_path / "tree")
    code, report = judged(tmp_path, tree, CANDIDATE, "--repeat", "1")
    assert code == 0
    assert verdicts(report) == dict.fromkeys(("scale", "pick_rows", "sum_lists"), "accepted")
    cases = [case for operator in report["operators"] for case in operator["cases"]]  # type: ignore[attr-defined]
    assert len(cases) == 6
    for case in cases:
        assert 0 < case["hap"] < 1
        assert case["limit"]["preset"] == "none"
        assert case["baseline"]["median_us"] > 0
        assert not [flag for flag in case["flags"] if flag["severity"] == "hold"]


@pytest.mark.sandbox
def test_wrong_answers_are_refused_and_a_broken_golden_is_nobody_elses_fault(tmp_path: Path) -> None:
    tree = write_task_tree(tmp_path / "tree")
    (tree / "level1/scale/golden.py").write_text(SCALE_GOLDEN.replace("return x * factor", "raise OSError('broken')"))
    wrong = CANDIDATE.replace("index.clone()", "index.int()").replace("entry * scale + 1", "entry * scale + 1.1")
    code, report = judged(tmp_path, tree, wrong, "--no-perf")
    assert code == 3
    assert verdicts(report) == {
        "scale": "internal_error",
        "pick_rows": "wrong_structure",
        "sum_lists": "wrong_values",
    }


@pytest.mark.sandbox
def test_outputs_whose_shape_depends_on_the_data_are_judged(tmp_path: Path) -> None:
    golden = """
        import torch

        def scale(x, factor=2.0, dims=None):
            return x[x > 0] * factor
    """
    right = "def scale(x, factor=2.0, dims=None):\n    return x[x > 0] * factor\n"
    code, report = judged(tmp_path, write_operator(tmp_path / "tree", golden), right, "--no-perf")
    assert (code, verdicts(report)) == (0, {"scale": "accepted"})
