"""Which service the command line talks to, and how it refuses what can be no address and no token."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from app.cli import commands
from app.client.local import PROJECT
from app.client.target import Target, choose_target
from kernel_eval.errors import UsageError

SECRET = "hapb_sEcReT"
URL = "http://127.0.0.1:1"
BAD_TOKENS = {
    "two words": f"{SECRET} x",
    "blank": "   ",
    "a space behind": f"{SECRET} ",
    "beyond Latin": f"{SECRET}字",
    "an umlaut": f"h\u00e4pb{SECRET}",
    "a surrogate": f"{SECRET}\udcff",
    "a line break": f"{SECRET}\nX-Evil: 1",
    "a line break at the end": f"{SECRET}\n",
    "a carriage return": f"{SECRET}\r",
    "an escape": f"{SECRET}\x1b[31m",
    "a bell": f"\x07{SECRET}",
    "a tab": f"\t{SECRET}",
    "a non-breaking space": f"{SECRET}\u00a0",
}
BAD_URLS = {
    "no scheme": "127.0.0.1:8000",
    "a name alone": "board.example",
    "another scheme": "ftp://board.example",
    "a file": "file:///etc/passwd",
    "no host": "http://",
    "a port alone": "http://:80",
    "a large port": "http://127.0.0.1:99999",
    "a zero port": "http://127.0.0.1:0",
    "a negative port": "http://127.0.0.1:-1",
    "a word as port": "http://127.0.0.1:http",
    "an open bracket": "http://[::1",
    "spaces": "http://board .example",
    "blank": "  ",
    "a line break": "http://127.0.0.1:1\n",
    "an escape": "http://127.0.0.1\x1b[31m",
    "beyond ASCII": "http://b\u00f6ard.example",
    "a password": f"http://me:{SECRET}@127.0.0.1:1",
    "a question": "http://127.0.0.1:1/?x=1",
    "a fragment": "http://127.0.0.1:1/#x",
}


def answer(url: str | None, token: str | None, *, by_flag: bool) -> tuple[int, str]:
    """How `standings` ends with that address and token, and what it says on standard error."""
    given = {"HAPBOARD_URL": url, "HAPBOARD_TOKEN": token, "HAPBOARD_VAR": os.devnull + "/none"}
    flags = [
        word for name, value in (("--url", url), ("--token", token)) if value is not None for word in (name, value)
    ]
    hidden = {"HAPBOARD_URL": None, "HAPBOARD_TOKEN": None}
    runner = CliRunner(env=hidden if by_flag else {name: value for name, value in given.items() if value != ""})
    done = runner.invoke(commands, ["standings", "b", *(flags if by_flag else [])])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stderr


@pytest.mark.parametrize("by_flag", [True, False], ids=["flag", "variable"])
@pytest.mark.parametrize("token", BAD_TOKENS.values(), ids=list(BAD_TOKENS))
def test_what_is_no_token_is_refused_in_one_line_that_does_not_repeat_it(token: str, by_flag: bool) -> None:
    code, said = answer(URL, token, by_flag=by_flag)
    assert code == 2
    assert said.count("\n") == 1
    assert said.startswith("Error: --token is" if by_flag else "Error: HAPBOARD_TOKEN is")
    assert "sEcReT" not in said
    assert said.strip("\n").isprintable()


@pytest.mark.parametrize("by_flag", [True, False], ids=["flag", "variable"])
@pytest.mark.parametrize("url", BAD_URLS.values(), ids=list(BAD_URLS))
def test_what_is_no_address_is_refused_in_one_line(url: str, by_flag: bool) -> None:
    code, said = answer(url, "hapb_x", by_flag=by_flag)
    assert code == 2
    assert said.count("\n") == 1
    assert said.startswith("Error: --url" if by_flag else "Error: HAPBOARD_URL")
    assert "sEcReT" not in said
    assert said.strip("\n").isprintable()


@pytest.mark.parametrize("url", ["", "http://h"])
def test_an_empty_flag_is_refused(url: str) -> None:
    code, said = answer(url, "", by_flag=True)
    assert code == 2
    assert "is empty" in said


@pytest.mark.parametrize("end", ["", "/", "//"])
def test_slashes_at_the_end_of_an_address_mean_nothing(end: str) -> None:
    assert choose_target(f"https://board.example{end}", "hapb_x", {}).url == "https://board.example"
    assert choose_target(f"http://[::1]:80{end}", None, {}).url == "http://[::1]:80"


def test_flags_come_before_the_environment_and_an_empty_variable_says_nothing(tmp_path: Path) -> None:
    given = {"HAPBOARD_URL": "http://env", "HAPBOARD_TOKEN": "env"}
    assert choose_target("http://flag", "flag", given) == Target("http://flag", "flag")
    assert choose_target(None, None, given) == Target("http://env", "env")
    assert choose_target("http://flag", None, {"HAPBOARD_TOKEN": ""}) == Target("http://flag")
    with pytest.raises(UsageError, match="which service"):
        choose_target(None, None, {"HAPBOARD_URL": "", "HAPBOARD_TOKEN": ""}, tmp_path)
    with pytest.raises(UsageError, match="without an address"):
        choose_target(None, "hapb_x", {}, tmp_path)


def state_in(folder: Path, **changed: object) -> dict[str, str]:
    """A stack's folder as `make up` leaves it, of this very process; the environment that names it."""
    ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
    state = {"supervisor": os.getpid(), "started_ticks": ticks, "address": URL, "ready": True, **changed}
    (folder / "state.json").write_text(json.dumps(state))
    (folder / "token").write_text(f"{SECRET}\n")
    return {"HAPBOARD_VAR": str(folder)}


def test_a_running_local_stack_is_found_only_where_nothing_is_given(tmp_path: Path) -> None:
    named = state_in(tmp_path)
    assert choose_target(None, None, named) == Target(URL, SECRET, tmp_path)
    assert SECRET not in repr(choose_target(None, None, named))
    assert choose_target("http://h", None, named) == Target("http://h")
    with pytest.raises(UsageError, match="without an address"):
        choose_target(None, "hapb_x", named)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"supervisor": 0}, "does not run"),
        ({"supervisor": 2**22 + 1}, "does not run"),
        ({"started_ticks": 1}, "does not run"),
        ({"supervisor": "many"}, "does not run"),
        ({"ready": False}, "still starting"),
        ({"address": "nonsense"}, "is no address"),
    ],
)
def test_a_stack_that_does_not_run_is_never_talked_to(
    tmp_path: Path, changed: dict[str, object], expected: str
) -> None:
    with pytest.raises(UsageError, match=expected):
        choose_target(None, None, state_in(tmp_path, **changed))


@pytest.mark.parametrize("content", ["", "{", "[]", "7"])
def test_a_damaged_state_file_is_named(tmp_path: Path, content: str) -> None:
    named = state_in(tmp_path)
    (tmp_path / "state.json").write_text(content)
    with pytest.raises(UsageError, match=r"state\.json"):
        choose_target(None, None, named)


def test_without_a_token_file_there_is_no_token_and_submitting_says_so(tmp_path: Path) -> None:
    named = state_in(tmp_path)
    (tmp_path / "token").unlink()
    target = choose_target(None, None, named)
    assert target.token == ""
    with pytest.raises(UsageError, match="needs a token"):
        target.need_token()


def test_outside_the_clone_no_stack_is_found_however_the_folder_looks(tmp_path: Path) -> None:
    (tmp_path / "var").mkdir()
    state_in(tmp_path / "var")
    with pytest.raises(UsageError, match="which service"):
        choose_target(None, None, {}, tmp_path)
    (tmp_path / "into").symlink_to(PROJECT)
    inside = choose_target(None, None, {"HAPBOARD_VAR": str(tmp_path / "var")}, tmp_path)
    assert inside.stack == tmp_path / "var"


def test_the_environment_is_printed_for_a_shell(tmp_path: Path) -> None:
    clean = {"PATH": os.environ["PATH"], **state_in(tmp_path)}
    order = f'eval "$({sys.executable} -m app.cli env)"; echo "$HAPBOARD_URL $HAPBOARD_TOKEN"'
    done = subprocess.run(
        ["bash", "-c", order], env=clean, cwd=PROJECT, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == f"{URL} {SECRET}\n"
