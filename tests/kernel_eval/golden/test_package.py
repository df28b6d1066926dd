"""The goldens as a submission: a wheel that scores full correctness."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from app.client.pack import packed
from kernel_eval.build.archive import check_archive
from kernel_eval.cli import main
from kernel_eval.errors import GoldenFault, UsageError
from kernel_eval.golden.package import build_golden_wheel, torch_schema
from kernel_eval.model import Candidate, InterfacesFound, Report, Suite
from kernel_eval.pipeline import evaluate
from kernel_eval.settings import Settings
from kernel_eval.suite import default_bench_data, load_suite
from kernel_eval.suite.imported.store import keep
from kernel_eval.suite.imported.task_tree import gather_task_tree
from tests.factories.foreign import write_task_tree
from tests.factories.judged_reports import PEAKS
from tests.factories.tasks import write_suite


@pytest.fixture(scope="module")
def small() -> Suite:
    return load_suite(default_bench_data(), "cann-bench-small")


def judged(suite: Suite, place: Path) -> tuple[Report, InterfacesFound]:
    source = place / "submission"
    build_golden_wheel(suite, source)
    events: list[object] = []
    settings = Settings(work_dir=place / "work", cache_dir=place / "cache", timed=False)
    settings.work_dir.mkdir()
    report = evaluate(Candidate(source), suite, settings, events.append, peaks=PEAKS)
    return report, next(event for event in events if isinstance(event, InterfacesFound))


@pytest.mark.sandbox
def test_the_goldens_score_full_correctness_on_a_sample(small: Suite, tmp_path: Path) -> None:
    suite = small.select(case_ids=frozenset({2}))
    report, found = judged(suite, tmp_path)
    assert [operator.correct_points for operator in report.operators] == [pytest.approx(30)] * len(suite.operators)
    assert not found.missing
    assert {str(interface).partition("(")[0] for interface in found.interfaces} == {
        f"torch.ops.cann_bench.{operator.function}" for operator in suite.operators
    }


@pytest.mark.slow
@pytest.mark.sandbox
def test_the_goldens_score_full_correctness_on_all_public_cases(small: Suite, tmp_path: Path) -> None:
    report, _ = judged(small, tmp_path)
    wrong = [
        (case.operator, case.case_id, case.rule) for o in report.operators for case in o.cases if not case.accepted
    ]
    assert wrong == []
    assert sum(len(operator.cases) for operator in report.operators) == 160


def test_the_same_suite_gives_the_same_wheel_byte_by_byte(small: Suite, tmp_path: Path) -> None:
    first, second = (build_golden_wheel(small, tmp_path / name) for name in ("one", "two"))
    assert first.name == second.name == f"cann_bench-1.0.0+{small.digest[:12]}-py3-none-any.whl"
    assert first.read_bytes() == second.read_bytes()
    assert build_golden_wheel(small, tmp_path / "one") == first
    with zipfile.ZipFile(first) as wheel:
        assert wheel.testzip() is None
        assert "cann_bench/_exp.py" in wheel.namelist()
        assert not any("kernel_eval" in wheel.read(name).decode() for name in wheel.namelist())


def test_the_folder_of_the_goldens_is_a_submission_as_it_stands(small: Suite, tmp_path: Path) -> None:
    wheel = build_golden_wheel(small, tmp_path / "goldens")
    name, data = packed(tmp_path / "goldens")
    judged_archive = check_archive(io.BytesIO(data), name)
    assert judged_archive.prebuilt
    assert [entry.path for entry in judged_archive.entries] == [f"dist/{wheel.name}"]


def test_goldens_are_packaged_without_being_executed(tmp_path: Path) -> None:
    root = write_suite(tmp_path / "tasks", golden=f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    build_golden_wheel(load_suite(root, "tiny"), tmp_path / "out")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("place", [".", "dist"])
def test_a_folder_with_another_wheel_or_without_permission_is_refused(small: Suite, tmp_path: Path, place: str) -> None:
    (tmp_path / place).mkdir(exist_ok=True)
    (tmp_path / place / "other-1-py3-none-any.whl").touch()
    with pytest.raises(UsageError, match="other-1-py3-none-any"):
        build_golden_wheel(small, tmp_path)
    (tmp_path / place / "other-1-py3-none-any.whl").rename(tmp_path / "other-1-py3-none-any.whl")
    with pytest.raises(UsageError, match="cannot be written"):
        build_golden_wheel(small, tmp_path / "other-1-py3-none-any.whl" / "below")


def test_a_golden_that_cannot_be_read_is_named(small: Suite, tmp_path: Path) -> None:
    moved = replace(small.operators[0], folder=tmp_path / "nowhere")
    with pytest.raises(GoldenFault, match=r"nowhere/golden\.py"):
        build_golden_wheel(replace(small, operators=(moved,)), tmp_path / "out")


def test_a_schema_is_respelled_for_torch() -> None:
    assert torch_schema("f(Tensor x, bool a=false, bool b = true, str c=\"true\") -> Tensor y") == (
        "f(Tensor x, bool a=False, bool b =True, str c=\"true\") -> Tensor y"
    )  # fmt: skip


def test_the_command_prints_the_wheel(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["golden", "package", "--out", str(tmp_path / "out")]) == 0
    path = Path(capsys.readouterr().out.strip())
    assert path.parent == tmp_path / "out" / "dist"
    assert path.is_file()
    assert main(["golden", "package", "--suite", "nosuch", "--out", str(tmp_path / "out")]) == 2


@pytest.mark.slow
@pytest.mark.sandbox
def test_foreign_goldens_score_full_correctness_as_well(tmp_path: Path) -> None:
    gathered = gather_task_tree(write_task_tree(tmp_path / "tree"))
    suite = keep(gathered, tmp_path / "home", "mine", "1.0.0", "2026-01-01T00:00:00+00:00", replace=False)
    report, found = judged(suite, tmp_path)
    assert [operator.correct_points for operator in report.operators] == [pytest.approx(30)] * 3
    assert {str(interface).partition("(")[0] for interface in found.interfaces} >= {
        f"torch.ops.cann_bench.{operator.function}" for operator in suite.operators
    }
