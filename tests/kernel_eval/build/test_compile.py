"""Builds in the real box: what comes out, and what each kind of failure says."""

from __future__ import annotations

import os
import sys
import time
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kernel_eval.build.compile import build_candidate
from kernel_eval.errors import UsageError
from kernel_eval.model import Build, Candidate
from kernel_eval.sandbox.host import neutral
from kernel_eval.settings import Settings

EXAMPLES = Path(__file__).parents[3] / "examples"
PACK = """
import pathlib, zipfile
pathlib.Path("dist").mkdir(exist_ok=True)
with zipfile.ZipFile("dist/cann_bench-1.0.0-py3-none-any.whl", "w") as wheel:
    for path in sorted(pathlib.Path("cann_bench").rglob("*")):
        wheel.write(path)
"""
PACKED = f"python - <<'END'{PACK}END\n"
BuildOf = Callable[..., Build]

pytestmark = pytest.mark.sandbox


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(tmp_path / "work", tmp_path / "cache", threads=2, build_timeout_s=120)


@pytest.fixture
def build_of(tmp_path: Path, settings: Settings) -> BuildOf:
    """Builds a candidate made of `build.sh` and further files."""

    def build(script: str, files: dict[str, str] | None = None, **changes: object) -> Build:
        source = tmp_path / "candidate"
        for name, text in {"build.sh": script, "cann_bench/__init__.py": "", **(files or {})}.items():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_text(text)
        return build_candidate(Candidate(source), replace(settings, **changes), tmp_path / "work" / "build")

    return build


def files_of(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("sandboxed", [True, False])
def test_a_build_leaves_the_package_alone_in_a_fresh_folder(sandboxed: bool, build_of: BuildOf) -> None:
    build = build_of("echo hello\n" + PACKED, {"cann_bench/table.txt": "1"}, sandboxed=sandboxed)
    assert build.package_dir is not None, build.message
    assert files_of(build.package_dir) == {"cann_bench/__init__.py": "", "cann_bench/table.txt": "1"}
    assert build.log == b"hello\n"
    assert (build.message, build.prebuilt, build.set_aside) == ("", False, {})


@pytest.mark.parametrize("name", ["wrong_values", "crasher"])
def test_the_examples_in_python_build(name: str, settings: Settings, tmp_path: Path) -> None:
    build = build_candidate(Candidate(EXAMPLES / name), settings, tmp_path / "build")
    assert build.package_dir is not None, build.message
    assert list(files_of(build.package_dir)) == ["cann_bench/__init__.py"]


def test_a_compiler_error_is_told_with_file_and_line(settings: Settings, tmp_path: Path) -> None:
    build = build_candidate(Candidate(EXAMPLES / "broken_build"), settings, tmp_path / "build")
    assert build.package_dir is None
    assert build.message.startswith("build.sh ended with exit code 1: csrc/sigmoid.cpp:3:")
    assert b"the semicolon is missing" in build.log


def test_the_source_folder_stays_as_it_was(build_of: BuildOf, tmp_path: Path) -> None:
    build = build_of("touch made cann_bench/made\nrm -rf csrc\n" + PACKED, {"csrc/a.cpp": "x"})
    assert build.succeeded
    names = {str(path.relative_to(tmp_path / "candidate")) for path in (tmp_path / "candidate").rglob("*")}
    assert names == {"build.sh", "cann_bench", "cann_bench/__init__.py", "csrc", "csrc/a.cpp"}


def test_wheels_that_lay_in_dist_are_not_what_is_judged(build_of: BuildOf) -> None:
    build = build_of("ls dist\n", {"dist/cann_bench-9-py3-none-any.whl": "opaque"})
    assert "exit code 2" in build.message
    build = build_of(PACKED)
    assert build.succeeded


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("true\n", "build.sh ended well but left no wheel in dist/"),
        ("exit 3\n", "build.sh ended with exit code 3"),
        ("kill -9 $$\n", "signal 9"),
        ("no-such-compiler a.cpp\nexit 127\n", "no-such-compiler: command not found"),
        (PACKED + "cp dist/*.whl dist/cann_bench-2.0.0-py3-none-any.whl\n", "2 wheels in dist/"),
        (PACKED + "mv dist/*.whl dist/cann_bench-1.0.0-cp27-cp27m-linux_x86_64.whl\n", "is for Python cp27"),
        (PACKED + "cd dist; mv *.whl w; ln -s w cann_bench-1.0.0-py3-none-any.whl\n", "the wheel can't be taken"),
        (PACKED + "cd dist; ln *.whl other\n", "a file with 2 names"),
        ("mkdir dist; mkfifo dist/cann_bench-1.0.0-py3-none-any.whl\n", "the wheel can't be taken"),
        ("mkdir dist; truncate -s 1T dist/cann_bench-1.0.0-py3-none-any.whl\n", "build.sh ended"),
        ("mkdir dist; ln -s /etc/passwd dist/cann_bench-1.0.0-py3-none-any.whl\n", "the wheel can't be taken"),
        ("ln -s /etc dist\n", "left no wheel"),
        ("mkdir dist; echo text > dist/cann_bench-1.0.0-py3-none-any.whl\n", "zip"),
    ],
)
def test_a_build_that_fails_says_why(script: str, message: str, build_of: BuildOf) -> None:
    build = build_of(script)
    assert build.package_dir is None
    assert message in build.message


def test_a_build_that_hangs_is_stopped_with_all_it_started(build_of: BuildOf) -> None:
    started = time.monotonic()
    build = build_of("echo started\nsetsid sleep 1000 & sleep 1000\n", build_timeout_s=2)
    assert "stopped after 2 s" in build.message
    assert build.log == b"started\n"
    assert time.monotonic() - started < 30


def test_a_hanging_build_outside_the_box_is_stopped_too(build_of: BuildOf) -> None:
    build = build_of("sleep 1000 & sleep 1000\n", build_timeout_s=2, sandboxed=False)
    assert "stopped after 2 s" in build.message


def test_endless_output_is_capped_while_it_is_read(build_of: BuildOf) -> None:
    build = build_of("head -c 300M /dev/zero; printf '\\377\\033[31m'; exit 1\n")
    assert build.message.startswith("build.sh ended with exit code 1")
    assert 1 << 19 < len(build.log) <= 1 << 20
    assert build.log.endswith(b"\xff\x1b[31m")


def test_a_build_sees_no_network_and_nothing_of_the_host(build_of: BuildOf) -> None:
    os.environ["CANARY"] = "seen"
    try:
        look = "import importlib.util as u; print(all(map(u.find_spec, ('torch', 'setuptools', 'wheel'))))"
        build = build_of(f'env; ls /sys/class/net /root /home; ls -A ~; python -c "{look}"\n')
    finally:
        del os.environ["CANARY"]
    text = build.log.decode()
    assert "CANARY" not in text
    assert "eth0" not in text
    assert "HOME=/tmp" in text
    assert text.endswith("True\n")


def test_a_log_names_no_place_of_the_host(build_of: BuildOf, tmp_path: Path) -> None:
    look = "import sys, sysconfig, importlib.util as u; print(sys.prefix, sysconfig.get_paths(), u.find_spec('torch'))"
    script = f'pwd; env; mount; ls -l /proc/self/fd; python -c "{look}"; c++ -v -c $PWD/csrc/ops/*/*.cpp; exit 1\n'
    build = build_of(script, OPERATORS)
    text = build.log.decode() + build.message + str(build.set_aside)
    assert "/build/csrc/ops/bad/bad.cpp:1" in text
    assert "/python/lib" in text
    for place in {str(tmp_path), str(EXAMPLES.parent), *map(str, outside_usr(sys.prefix, sys.base_prefix))}:
        assert place not in text


def outside_usr(*prefixes: str) -> list[Path]:
    return [Path(prefix) for prefix in prefixes if not Path(prefix).is_relative_to("/usr")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-I{0}/include", "-I/python/include"),
        ("'{0}'", "'/python'"),
        ("{0}", "/python"),
        ("{0}s/x {0}-old/x {0}.d {0}_x", "{0}s/x {0}-old/x {0}.d {0}_x"),
        ("{0}/a:{0}/b", "/python/a:/python/b"),
    ],
)
def test_the_interpreters_place_is_told_as_python(text: str, expected: str) -> None:
    for prefix in outside_usr(sys.prefix, sys.base_prefix):
        assert neutral(text.format(prefix)) == expected.format(prefix)


OPERATORS = {
    "csrc/ops/good/good.cpp": "int good() { return 1; }\n",
    "csrc/ops/bad/bad.cpp": "int bad() { return 1 }\n",
    "csrc/ops/worse/worse.cpp": "#include <nothing.h>\n",
}
COMPILE = "set -e\nfor f in csrc/ops/*/*.cpp; do c++ -c $f -o cann_bench/$(basename $f .cpp).txt; done\n" + PACKED


def test_operators_at_fault_are_set_aside_and_the_rest_is_built(build_of: BuildOf) -> None:
    build = build_of(COMPILE, OPERATORS)
    assert build.package_dir is not None, build.message
    assert sorted(path.name for path in build.package_dir.rglob("*.txt")) == ["good.txt"]
    assert sorted(build.set_aside) == ["bad", "worse"]
    assert "expected" in build.set_aside["bad"]
    assert "nothing.h" in build.set_aside["worse"]
    assert build.log.count(b"== set aside in _quarantine/") == 2


def test_nothing_is_set_aside_where_that_is_switched_off(build_of: BuildOf) -> None:
    build = build_of(COMPILE, OPERATORS, iterative_compile=False)
    assert (build.package_dir, build.set_aside) == (None, {})
    assert "csrc/ops/bad/bad.cpp:1:" in build.message


def test_a_build_in_which_every_operator_is_at_fault_fails(build_of: BuildOf) -> None:
    build = build_of(
        COMPILE, {"csrc/bad/bad.cpp": "int bad() { return 1 }\n"} | {"build.sh": "c++ -c csrc/bad/bad.cpp\n"}
    )
    assert build.package_dir is None
    assert list(build.set_aside) == ["bad"]


def test_a_prebuilt_wheel_is_taken_and_marked(settings: Settings, tmp_path: Path) -> None:
    dist = tmp_path / "prebuilt" / "dist"
    dist.mkdir(parents=True)
    with zipfile.ZipFile(dist / "cann_bench-1.0.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("cann_bench/__init__.py", "")
    build = build_candidate(Candidate(dist.parent), settings, tmp_path / "build")
    assert build.prebuilt
    assert build.package_dir is not None
    assert list(files_of(build.package_dir)) == ["cann_bench/__init__.py"]


def test_a_folder_with_nothing_to_build_is_named(settings: Settings, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(UsageError, match=r"neither build\.sh nor a wheel"):
        build_candidate(Candidate(empty), settings, tmp_path / "build")
    with pytest.raises(UsageError, match="is no folder"):
        build_candidate(Candidate(tmp_path / "none"), settings, tmp_path / "build")
