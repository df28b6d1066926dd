"""A module that loads itself at its first use."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys
from kernel_eval.later import load_later
load_later("sample")
import sample, sample as again
assert "loaded" not in sys.argv, "an import alone has loaded it"
{use}
assert "loaded" in sys.argv
assert type(sample).__name__ == "module" and sys.modules["sample"] is sample is again
import sample.part
assert sample.VALUE == 5 and sample.part.VALUE == 6
load_later("sample")
assert sys.modules["sample"] is sample
load_later("does_not_exist")
assert "does_not_exist" not in sys.modules
"""


@pytest.mark.parametrize("use", ["sample.VALUE", "from sample import VALUE", "import sample.part", "dir(sample.part)"])
def test_it_loads_once_when_something_of_it_is_asked_for(use: str, tmp_path: Path) -> None:
    package = tmp_path / "sample"
    package.mkdir()
    source = "import sys\nimport sample\nsys.argv.append('loaded')\nfrom . import part\nVALUE = 5\n"
    (package / "__init__.py").write_text(source)
    (package / "part.py").write_text("VALUE = 6\n")
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n" + PROGRAM.format(use=use)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_everything_up_to_the_box_does_without_torch() -> None:
    """Otherwise the box would be opened only after this process has loaded it."""
    program = (
        "import sys; from kernel_eval.later import load_later; load_later('torch'); "
        "import kernel_eval.pipeline; "
        "print(type(sys.modules['torch']).__name__, 'numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["_Later", "False"]


def test_torch_put_off_is_loaded_when_the_build_ends() -> None:
    program = (
        "import sys; from kernel_eval.later import load_later; load_later('torch'); "
        "from kernel_eval.pipeline import loading_torch\n"
        "with loading_torch(): pass\n"
        "print(type(sys.modules['torch']).__name__, sys.modules['torch'].ones(1).item())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["module", "1.0"]
