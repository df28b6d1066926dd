"""Which operators a compiler's messages are pinned on."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernel_eval.build.blame import EXCERPT_BYTES, blamed, first_error, operator_folders

FOLDERS = {name: Path("csrc/ops") / name for name in ("exp", "gelu", "mish")}


@pytest.mark.parametrize(
    ("log", "names"),
    [
        ("csrc/ops/gelu/gelu.cpp:3:61: error: expected ';'", {"gelu"}),
        ("/build/csrc/ops/gelu/gelu.cpp:3:61: fatal error: nothing.h: No such file or directory", {"gelu"}),
        ("csrc/ops/gelu/gelu.cpp:3:1: error: x\nnote\ncsrc/ops/mish/m.h:1:1: error: y", {"gelu", "mish"}),
        ("In file included from csrc/ops/mish/mish.cpp:1:\ncsrc/shared/vector.h:9:1: error: no", {"mish"}),
        (
            "In file included from csrc/shared/a.h:1,\n                 from csrc/ops/exp/exp.cpp:2:\nb.h:1: error: x",
            {"exp"},
        ),
        ("/usr/bin/ld: csrc/ops/exp/exp.o: undefined reference to `f'", {"exp"}),
        ("FAILED: build/csrc/ops/exp/exp.o", {"exp"}),
        ("csrc/ops/gelu/gelu.cpp:3:61: warning: unused variable", set()),
        ("csrc/ops/gelu_fast/gelu.cpp:3:61: error: x", set()),
        ("setup.py:3: error: x", set()),
        ("", set()),
    ],
)
def test_an_error_is_pinned_on_the_operators_it_names(log: str, names: set[str]) -> None:
    assert set(blamed(log.encode(), FOLDERS)) == names


def test_an_excerpt_holds_the_error_with_its_surroundings_and_is_bounded() -> None:
    lines = [f"line {n}" for n in range(50)]
    lines[20] = "csrc/ops/exp/exp.cpp:1:1: error: here"
    excerpt = blamed("\n".join(lines).encode(), FOLDERS)["exp"]
    assert excerpt.splitlines() == lines[17:24]
    endless = ("csrc/ops/exp/exp.cpp:1:1: error: " + "x" * 10_000).encode()
    assert len(blamed(endless, FOLDERS)["exp"]) <= EXCERPT_BYTES


def test_operator_folders_lie_in_ops_or_else_in_csrc(tmp_path: Path) -> None:
    assert operator_folders(tmp_path) == {}
    (tmp_path / "csrc" / "mish").mkdir(parents=True)
    (tmp_path / "csrc" / "main.cpp").touch()
    assert operator_folders(tmp_path) == {"mish": Path("csrc/mish")}
    (tmp_path / "csrc" / "ops" / "gelu").mkdir(parents=True)
    assert operator_folders(tmp_path) == {"gelu": Path("csrc/ops/gelu")}


def test_the_first_error_is_shown_inert() -> None:
    log = b"warning: w\n\x1b[31mcsrc/a.cpp:1:2: error: bad\xff\x1b[0m\nb.cpp:1: error: later\n"
    assert first_error(log) == "\\x1b[31mcsrc/a.cpp:1:2: error: bad\ufffd\\x1b[0m"
    assert first_error(b"all is well\n") == ""
