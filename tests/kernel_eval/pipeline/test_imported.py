"""Whole runs on imported suites: foreign goldens, hooks and times in boxes, candidates judged by them."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

import pytest

from kernel_eval.cli import main
from kernel_eval.hap import save_peaks
from tests.factories.candidates import write_candidate
from tests.factories.foreign import (
    CANDIDATE,
    LINEAR_NEW,
    PAIR,
    PAIR_NEW,
    SCALE_GOLDEN,
    write_modules,
    write_operator,
    write_task_tree,
)
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
@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.sandbox
def test_indices_are_judged_by_what_they_find_in_an_imported_suite(tmp_path: Path) -> None:
    proto = """
        name: Scale
        schema: "scale(Tensor x, int dim) -> (Tensor at, Tensor q)"
        outputs:
          - {name: at, dtype: int64, compare: false, index_gather: {input: x, value_reduce: amax}}
          - {name: q, dtype: int8}
        precision_thresholds: {int8: 1}
    """
    cases = "cases: [{case_id: 1, input_shape: [[4, 64]], dtype: int32, attrs: {dim: -1}, value_range: [0, 3]}]"
    golden = """
        def scale(x, dim):
            return x.argmax(dim), x.char()
    """
    tree = write_operator(tmp_path / "tree", golden, textwrap.dedent(proto), cases)
    last = "import torch\n\n\ndef scale(x, dim):\n    at = x.shape[dim] - 1 - x.flip(dim).argmax(dim)\n"
    code, report = judged(tmp_path, tree, last + "    q = x.char()\n    q[0, 0] += 1\n    return at, q\n", "--no-perf")
    assert (code, verdicts(report)) == (0, {"scale": "accepted"})


@pytest.mark.slow
@pytest.mark.sandbox
def test_a_hook_that_does_not_repeat_itself_yields_no_wrong_verdict(tmp_path: Path) -> None:
    golden = """
        import os
        import torch

        def get_input(x, factor, dims):
            return [torch.frombuffer(bytearray(os.urandom(x.numel())), dtype=torch.uint8).view(x.shape).to(x.dtype)]

        def scale(x, factor=2.0, dims=None):
            return x * factor
    """
    tree = write_operator(tmp_path / "tree", golden)
    code, report = judged(tmp_path, tree, CANDIDATE, "--no-perf")
    assert (code, verdicts(report)) == (0, {"scale": "accepted"})
    again = ["--source-dir", str(tmp_path / "candidate"), "--cache-dir", str(tmp_path / "cache"), "--no-perf"]
    places = ["--bench-data", str(tmp_path / "home"), "--reports-dir", str(tmp_path / "again")]
    assert main(["eval", "--suite", "mine", *again, *places, "--peaks", str(tmp_path / "peaks.json")]) == 0


@pytest.mark.slow
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


def module_words(place: Path) -> list[str]:
    save_peaks(PEAKS, place / "peaks.json")
    return [
        "--bench-data", str(place / "home"), "--cache-dir", str(place / "cache"), "--suite", "mods",
        "--reports-dir", str(place / "reports"), "--peaks", str(place / "peaks.json"), "--repeat", "1",
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.slow
def test_a_right_model_is_timed_against_the_foreign_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for case in right_models(tmp_path, capsys):
        assert 0 < case["hap"] < 1
        assert case["limit"]["preset"] == "none"


@pytest.mark.sandbox
def test_modules_are_imported_and_a_right_model_is_accepted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, _ = right_models(tmp_path, capsys, "--no-perf")
    assert (first["rule"], first["comparison"]["threshold"]) == ("allclose", 1e-4)


def right_models(tmp_path: Path, capsys: pytest.CaptureFixture[str], *more: str) -> list[dict[str, Any]]:
    """Cases of a whole run of right modules on an imported suite."""
    root = write_modules(tmp_path / "modules")
    words = ["suite", "import", str(root), "--name", "mods", "--bench-data", str(tmp_path / "home")]
    assert main(words) == 0
    assert "2 operators, 2 cases" in capsys.readouterr().out
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "1_Linear_with_ReLU_.py").write_text(LINEAR_NEW)
    (tmp_path / "new" / "2_pair.py").write_text(PAIR_NEW)
    code = main(["eval", "--source-dir", str(tmp_path / "new"), *module_words(tmp_path), *more])
    assert "cann_bench.p1_linear_with_relu(self, x, factor)" in capsys.readouterr().err
    (path,) = (tmp_path / "reports").glob("*.json")
    report = json.loads(path.read_text())
    assert (code, verdicts(report)) == (0, {"p1_linear_with_relu": "accepted", "p2_pair": "accepted"})
    return [case for operator in report["operators"] for case in operator["cases"]]


@pytest.mark.slow
@pytest.mark.sandbox
def test_a_single_wrong_model_is_refused_under_the_name_modelnew(tmp_path: Path) -> None:
    root = write_modules(tmp_path / "modules")
    (root / "level1" / "2_pair.py").unlink()
    assert main(["suite", "import", str(root), "--name", "mods", "--bench-data", str(tmp_path / "home")]) == 0
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "ai_op.py").write_text(LINEAR_NEW.replace("* factor", "* factor + 0.001"))
    code = main(["eval", "--source-dir", str(tmp_path / "new"), *module_words(tmp_path), "--no-perf"])
    (path,) = (tmp_path / "reports").glob("*.json")
    assert (code, verdicts(json.loads(path.read_text()))) == (1, {"p1_linear_with_relu": "wrong_values"})


@pytest.mark.sandbox
def test_a_module_that_cannot_describe_itself_is_a_fault_of_its_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = write_modules(tmp_path / "modules", raises=PAIR.replace("torch.rand(6, 4)", "open('/etc/shadow').read()"))
    (root / "level1" / "text.py").write_text(PAIR.replace("torch.rand(6, 4)", "'a text'"))
    code = main(["suite", "import", str(root), "--name", "mods", "--bench-data", str(tmp_path / "home")])
    said = capsys.readouterr().err
    assert code == 2
    assert "level1/raises.py: get_inputs or get_init_inputs failed in its box" in said
    assert "level1/text.py: get_inputs or get_init_inputs failed in its box" in said
    assert not (tmp_path / "home").exists()
