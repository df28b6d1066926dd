"""A package is asked in its box what it offers; what it says is a claim."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from kernel_eval.model import Interface, Place
from kernel_eval.runner.box import RunBox
from kernel_eval.runner.child_interfaces import listing
from kernel_eval.runner.interfaces import MOST_INTERFACES, _read, list_interfaces
from kernel_eval.runner.play import Play, PlayStatus
from kernel_eval.settings import Settings

HONEST = """
    import math
    import torch
    from torch.nn.functional import gelu

    library = torch.library.Library("cann_bench", "DEF")
    library.define("exp(Tensor x, float base=-1.0) -> Tensor y")

    class Options:
        pass

    class ModelNew(torch.nn.Module):
        def forward(self, left, right):
            return left @ right

    def mish(x: torch.Tensor, *, fast: bool = True) -> torch.Tensor:
        return x

    def __getattr__(name):
        if name == "lazy":
            return mish
        raise AttributeError(name)

    def _hidden(x):
        return x
"""
NASTY = {
    "it raises while it is looked at": (
        "class Odd:\n    def __call__(self): pass\n"
        "    @property\n    def __signature__(self): raise OSError\nodd = Odd()\n"
        "def __dir__(): raise RuntimeError('no')\n",
        "",
    ),
    "it has more than fits": ("\n".join(f"def f{i:05}(x): pass" for i in range(20_000)), "f00000"),
    "its signature has control characters": (
        "def exp(x): pass\nimport inspect\nclass S(inspect.Signature):\n"
        "    def __str__(self): return '(\\x1b[31mx\\t\\n)'\n"
        "exp.__signature__ = S()\n",
        "exp",
    ),
}


def ask(folder: Path, settings: Settings, source: str, *wanted: str) -> tuple[Interface, ...] | Play:
    (folder / "cann_bench").mkdir(parents=True)
    (folder / "cann_bench" / "__init__.py").write_text(textwrap.dedent(source))
    with RunBox(folder, settings, memory_bytes=700 << 20) as box:
        return list_interfaces(box, wanted)


@pytest.mark.sandbox
def test_registered_and_exported_interfaces_are_listed_with_their_signatures(
    tmp_path: Path, run_settings: Settings
) -> None:
    found = ask(tmp_path, run_settings, HONEST, "lazy", "absent")
    assert not isinstance(found, Play)
    assert {str(interface) for interface in found} == {
        "torch.ops.cann_bench.exp(Tensor x, float base=-1.) -> Tensor y",
        "cann_bench.ModelNew(self, left, right)",
        "cann_bench.mish(x: torch.Tensor, *, fast: bool = True) -> torch.Tensor",
        "cann_bench.lazy(x: torch.Tensor, *, fast: bool = True) -> torch.Tensor",
    }


@pytest.mark.parametrize(("source", "named"), NASTY.values(), ids=NASTY)
def test_a_package_that_misbehaves_yields_a_bounded_printable_listing(source: str, named: str) -> None:
    package = ModuleType("cann_bench")
    exec(source, package.__dict__)
    found = _read(listing(package)(wanted="exp").numpy().tobytes())
    assert len(found) <= MOST_INTERFACES
    assert all(str(interface).isprintable() for interface in found)
    assert not named or named in {interface.name for interface in found}


@pytest.mark.sandbox
def test_a_package_that_cannot_be_imported_gives_the_reason(box_of: Callable[..., RunBox]) -> None:
    found = list_interfaces(box_of("import_raises"), ["exp"])
    assert isinstance(found, Play)
    assert (found.status, found.detail) == (PlayStatus.LOAD_FAILED, "ImportError: a library is missing")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", ()),
        (b"\xff\xfe\x00garbage", ()),
        (b"ops\tname", ()),
        (b"ops\t\t(x)", ()),
        (b"elsewhere\texp\t(x)", ()),
        (b"ops\t../exp\t(x)", ()),
        (b"ops\texp\t(x)\0\0", (Interface(Place.REGISTERED, "exp", "(x)"),)),
        (b"module\texp\t(a\x1b[0m)\nmodule\texp\t(b)", (Interface(Place.EXPORTED, "exp", "(a [0m)"),)),
    ],
)
def test_bytes_that_say_nothing_are_left_out(content: bytes, expected: tuple[Interface, ...]) -> None:
    assert _read(content) == expected
