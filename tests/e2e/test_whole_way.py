"""The whole way on real parts, from upload to board: by REST, by browser, and by the judge alone."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser
from rich.console import Console

from kernel_eval.hap import save_peaks
from kernel_eval.sandbox.selftest import check_host
from local_stack import example
from local_stack.client import Client, packed
from local_stack.console import Screen
from local_stack.example import ensure_token
from local_stack.layout import EXAMPLE, PROJECT, Layout
from local_stack.supervisor import make_stack
from tests.factories.candidates import RIGHT, write_candidate
from tests.factories.judged_reports import PEAKS

pytestmark = [
    pytest.mark.database,
    pytest.mark.queue,
    pytest.mark.sandbox,
    pytest.mark.timeout(900),
]

OPERATORS = ("exp", "sigmoid")
CASES = (1, 2, 3)
BOARD = "cann-bench-small-cpu-trial"
SAME_SCORE = 25.0
"""Points by which two measurements of three cases on a busy host may differ; verdicts may not differ at all."""


@pytest.fixture(scope="module")
def layout(tmp_path_factory: pytest.TempPathFactory) -> Layout:
    return Layout(tmp_path_factory.mktemp("whole") / "var")


@pytest.fixture(scope="module")
def client(layout: Layout) -> Iterator[Client]:
    """A whole stack that judges a few cases of two operators."""
    if missing := check_host():
        pytest.skip(f"no sandbox here: {missing[0].part}")
    layout.worker.mkdir(parents=True)
    save_peaks(PEAKS, layout.worker / "peaks-cpu-2.json")
    chosen = {
        "HAPBOARD_WORKER_OPERATORS": json.dumps(OPERATORS),
        "HAPBOARD_WORKER_CASE_IDS": json.dumps(CASES),
        "HAPBOARD_WORKER_THREADS": "2",
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in chosen.items():
            patch.setenv(name, value)
        stack = make_stack(layout, Screen(Console(stderr=True, highlight=False)))
        try:
            programs = stack.start()
            stack.save()
            yield Client(programs.address, ensure_token(layout, programs))
        finally:
            stack.stop()


def settled(client: Client, folder: Path, key: str) -> dict[str, Any]:
    return client.await_settled(client.submit(folder, BOARD, key), lambda _: None)


def page(client: Client, path: str) -> str:
    answer = httpx.get(f"{client.address}{path}", timeout=30)
    assert answer.status_code == 200, path
    return answer.text


@pytest.fixture(scope="module")
def judged(client: Client) -> dict[str, Any]:
    """The example's submission, settled."""
    return settled(client, EXAMPLE, "the example")


def test_the_example_is_judged_scored_and_published(client: Client, judged: dict[str, Any]) -> None:
    assert judged["status"] == "published", judged
    result = client.result(judged["id"])
    assert [row["operator"] for row in result["operators"]] == sorted(OPERATORS)
    for row in result["operators"]:
        assert row["verdict"] == "accepted", row
        assert (row["compile_points"], row["correct_points"]) == (20.0, 30.0)
        assert 50.0 < row["score"] <= 100.0
    standings = httpx.get(f"{client.address}/api/v1/boards/{BOARD}/standings", timeout=30).json()
    assert "hapboard-example" in json.dumps(standings)
    assert "hapboard-example" in page(client, f"/boards/{BOARD}")
    shown = page(client, f"/submissions/{judged['id']}")
    assert judged["artifact_sha256"][:12] in shown
    log = httpx.get(f"{client.address}/api/v1/submissions/{judged['id']}/log", timeout=30).text
    assert "operator exp (1 of 2)" in log
    assert log.rstrip().endswith("published")


def shell_blocks(readme: str, heading: str) -> list[str]:
    """The shell commands below a heading, block by block, without comments."""
    section = (PROJECT / readme).read_text().partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return [re.sub(r" +# .*", "", block) for block in re.findall(r"```sh\n(.*?)```", section, re.DOTALL)]


def typed(commands: str, layout: Layout, folder: Path) -> subprocess.CompletedProcess[str]:
    """The commands as a person types them into a fresh shell in the clone; other files and a board of a trial alone."""
    assert example.BOARD in commands or "--out" in commands
    text = commands.replace("/tmp/", f"{folder}/").replace(example.BOARD, BOARD)
    bare = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "HAPBOARD_VAR": str(layout.var)}
    order = ["bash", "-euo", "pipefail", "-c", text]
    return subprocess.run(order, cwd=PROJECT, env=bare, capture_output=True, text=True, check=False, timeout=600)


IN_THE_CLONE = pytest.mark.skipif(
    not (PROJECT / ".venv/bin/hapboard").exists(), reason="the README's commands need .venv, which `make setup` makes"
)


def test_the_readmes_say_the_same_commands() -> None:
    assert len(shell_blocks("README.md", "Submit")) == 2
    assert shell_blocks("README.md", "Submit") == shell_blocks("README.zh.md", "提交")
    judge = shell_blocks("README.md", "Judge on your own machine")
    assert len(judge) == 1
    assert judge == shell_blocks("README.zh.md", "在自己的机器上评测")


@IN_THE_CLONE
def test_the_readmes_way_to_submit_works_as_it_stands(client: Client, layout: Layout, tmp_path: Path) -> None:
    """All of it but the waiting, which is long: the archive is the example's."""
    by_cli, by_curl = shell_blocks("README.md", "Submit")
    assert " --wait" in by_cli
    done = typed(by_cli.replace(" --wait", ""), layout, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == f"hapboard: talking to {client.address}, the local stack in {layout.var}\n"
    sent = typed(by_curl, layout, tmp_path)
    assert sent.returncode == 0, sent.stderr
    views = [json.loads(done.stdout), json.loads(sent.stdout)]
    assert [view["entry"]["agent"] for view in views] == ["", "my-agent"]
    assert views[0]["artifact_sha256"] == views[1]["artifact_sha256"]
    headers = {"Authorization": f"Bearer {client.token}"}
    for view in reversed(views):
        assert httpx.post(view["links"]["cancel"], headers=headers, timeout=30).status_code == 200


@IN_THE_CLONE
@pytest.mark.slow
def test_the_readmes_way_to_submit_ends_with_the_published_result(
    client: Client, layout: Layout, tmp_path: Path
) -> None:
    done = typed(shell_blocks("README.md", "Submit")[0], layout, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    seen = json.loads(done.stdout)
    assert seen["status"] == "published"
    assert all(row["solved"] for row in seen["result"]["operators"])


@IN_THE_CLONE
@pytest.mark.slow
def test_the_readmes_goldens_are_a_submission_that_is_right(client: Client, layout: Layout, tmp_path: Path) -> None:
    (block,) = shell_blocks("README.md", "Judge on your own machine")
    (package,) = [line for line in block.splitlines() if "golden package" in line]
    submit = f".venv/bin/hapboard submit /tmp/goldens --board {example.BOARD} --wait"
    done = typed(f"{package}\n{submit}\n", layout, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@IN_THE_CLONE
@pytest.mark.slow
def test_a_submission_that_fails_ends_the_command_with_1(client: Client, layout: Layout) -> None:
    submit = f".venv/bin/hapboard submit examples/broken_build --board {example.BOARD} --wait"
    done = typed(submit, layout, Path("/tmp"))
    assert done.returncode == 1, done.stdout + done.stderr
    assert {row["verdict"] for row in json.loads(done.stdout)["result"]["operators"]} == {"build_failed"}


@pytest.mark.slow
def test_the_judge_alone_says_the_same(client: Client, judged: dict[str, Any], tmp_path: Path) -> None:
    choice = [word for name in OPERATORS for word in ("-o", name)] + [word for n in CASES for word in ("-c", str(n))]
    save_peaks(PEAKS, tmp_path / "peaks.json")
    done = subprocess.run(
        [
            sys.executable, "-m", "kernel_eval", "eval", "--source-dir", str(EXAMPLE), "--device", "cpu",
            "--level", "1",
            *choice, "--reports-dir", str(tmp_path), "--peaks", str(tmp_path / "peaks.json"),
        ],
        cwd=PROJECT, capture_output=True, text=True, check=False, env={**os.environ, "OMP_WAIT_POLICY": "passive"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = tmp_path.glob("*_eval_*.json")
    alone = {row["operator"]: row for row in json.loads(path.read_text())["operators"]}
    for row in client.result(judged["id"])["operators"]:
        same = alone[row["operator"]]
        assert row["verdict"] == same["verdict"] == "accepted"
        assert (row["compile_points"], row["correct_points"]) == (same["compile_points"], same["correct_points"])
        assert abs(row["score"] - same["score"]) < SAME_SCORE


@pytest.mark.slow
def test_the_demo_submits_the_example_again_and_prints_the_result(
    client: Client, judged: dict[str, Any], layout: Layout
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "local_stack", "--var", str(layout.var), "demo"],
        cwd=PROJECT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["submission"] != judged["id"]
    assert result["artifact_sha256"] == judged["artifact_sha256"]
    assert [row["verdict"] for row in result["operators"]] == ["accepted"] * len(OPERATORS)


@pytest.mark.slow
def test_each_kind_of_failure_has_its_verdict_and_the_worker_goes_on(client: Client, tmp_path: Path) -> None:
    wrong = RIGHT.replace(
        "return torch.sigmoid(x.double()).to(x.dtype)", "return torch.sigmoid(x.double()).to(x.dtype) * 1.1"
    )
    crash = RIGHT.replace("return torch.sigmoid(x.double()).to(x.dtype)", "import os; os.abort()")
    expected = {"wrong_values": wrong, "crashed": crash}
    for verdict, source in expected.items():
        seen = settled(client, write_candidate(tmp_path / verdict, source), verdict)
        rows = {row["operator"]: row for row in client.result(seen["id"])["operators"]}
        assert rows["sigmoid"]["verdict"] == verdict, rows["sigmoid"]
        assert rows["exp"]["verdict"] == "accepted", rows["exp"]
    broken = settled(client, write_candidate(tmp_path / "broken", RIGHT, build="exit 7\n"), "broken")
    assert broken["status"] == "published"
    assert {row["verdict"] for row in client.result(broken["id"])["operators"]} == {"build_failed"}
    assert {row["score"] for row in client.result(broken["id"])["operators"]} == {0.0}


@pytest.mark.browser
def test_a_person_hands_in_and_watches_until_it_is_published(client: Client, chromium: Browser, tmp_path: Path) -> None:
    archive = tmp_path / "kernels.tar.gz"
    archive.write_bytes(packed(write_candidate(tmp_path / "kernels", RIGHT)))
    context = chromium.new_context(base_url=client.address, locale="en-GB")
    try:
        view = context.new_page()
        view.set_default_timeout(30_000)
        view.goto("/sign-in")
        view.get_by_label("Access token").fill(client.token)
        view.locator("main").get_by_role("button", name="Sign in").click()
        view.goto("/submit")
        view.locator("input[type=file]").set_input_files(archive)
        view.get_by_label("Agent").fill("by hand")
        view.get_by_role("button", name="Submit", exact=True).click()
        view.wait_for_url(re.compile(r".*/submissions/HB-LOCAL-\d{4}-\d{6}$"))
        view.get_by_text("Judged and published.").wait_for(timeout=300_000)
        assert view.locator("details.operator").count() == len(OPERATORS)
    finally:
        context.close()
