"""Wheels that are taken and wheels that aren't. Nothing of a wheel is ever run."""

from __future__ import annotations

import io
import stat
import struct
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from kernel_eval.build.wheel import WheelRefused, install_wheel

MINOR = sys.version_info.minor
MACHINE = sysconfig.get_platform().rsplit("-", 1)[-1]
OWN = f"cann_bench-1.0.0-cp3{MINOR}-cp3{MINOR}-linux_{MACHINE}.whl"
PURE = "cann_bench-1.0.0-py3-none-any.whl"
GOOD = {"cann_bench/__init__.py": b"x = 1\n", "cann_bench-1.0.0.dist-info/RECORD": b""}


def packed(files: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return stream.getvalue()


def elf(machine: int) -> bytes:
    return struct.pack("<4sBB10xHH", b"\x7fELF", 2, 1, 3, machine) + bytes(40)


@pytest.mark.parametrize(
    "name",
    [
        OWN,
        PURE,
        f"cann_bench-1.0.0-7-cp3{MINOR}-cp3{MINOR}-manylinux_2_28_{MACHINE}.whl",
        f"cann_bench-1.0.0-cp38-abi3-manylinux2014_{MACHINE}.manylinux_2_17_{MACHINE}.whl",
        "some.thing-0+local-py2.py3-none-any.whl",
    ],
)
def test_a_wheel_whose_tags_fit_is_taken_without_its_metadata(name: str, tmp_path: Path) -> None:
    install_wheel(name, packed(GOOD), tmp_path)
    assert [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()] == [
        "cann_bench/__init__.py"
    ]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("cann_bench.whl", "is no wheel's name"),
        (f"cann_bench-1.0.0-cp3{MINOR + 1}-cp3{MINOR + 1}-linux_{MACHINE}.whl", f"the judge runs cp3{MINOR}"),
        (f"cann_bench-1.0.0-cp3{MINOR + 1}-abi3-linux_{MACHINE}.whl", f"the judge runs cp3{MINOR}"),
        ("cann_bench-1.0.0-py2-none-any.whl", "is for Python py2"),
        (f"cann_bench-1.0.0-cp3{MINOR}-cp3{MINOR}d-linux_{MACHINE}.whl", "has the ABI"),
        (f"cann_bench-1.0.0-cp3{MINOR}-cp3{MINOR}-linux_riscv64.whl", f"the judge runs on {MACHINE}"),
        (f"cann_bench-1.0.0-cp3{MINOR}-cp3{MINOR}-win_amd64.whl", "is for win_amd64"),
    ],
)
def test_a_wheel_whose_tags_do_not_fit_is_refused(name: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(WheelRefused, match=reason):
        install_wheel(name, packed(GOOD), tmp_path)


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({**GOOD, "torch/__init__.py": b"evil"}, "holds torch; only the package cann_bench"),
        ({**GOOD, "evil.pth": b"import os"}, r"holds evil\.pth"),
        ({**GOOD, "sitecustomize.py": b""}, r"holds sitecustomize\.py"),
        ({**GOOD, "cann_bench-1.0.0.data/scripts/python": b""}, "holds cann_bench-1.0.0.data"),
        ({**GOOD, "cann_bench-1.0.0.data/purelib/torch.py": b""}, "holds cann_bench-1.0.0.data"),
        ({"other/__init__.py": b"", "cann_bench/__init__.py": b""}, "holds other"),
        ({"cann_bench-1.0.0.dist-info/RECORD": b""}, r"holds no cann_bench/__init__\.py"),
        ({**GOOD, "../evil": b""}, "SUB-010"),
        ({**GOOD, "/evil": b""}, "SUB-009"),
        ({**GOOD, "cann_bench/_C.so": elf(243)}, "built for riscv64"),
        ({**GOOD, "cann_bench/_C.so": b"text"}, "no shared library"),
        ({**GOOD, "cann_bench/_C.so.1": b""}, "no shared library"),
    ],
)
def test_a_wheel_may_hold_the_package_and_its_metadata_only(
    files: dict[str, bytes], reason: str, tmp_path: Path
) -> None:
    with pytest.raises(WheelRefused, match=reason):
        install_wheel(PURE, packed(files), tmp_path / "package")
    assert not (tmp_path / "evil").exists()


def test_a_link_in_a_wheel_is_refused(tmp_path: Path) -> None:
    stream = io.BytesIO(packed(GOOD))
    link = zipfile.ZipInfo("cann_bench/data")
    link.create_system, link.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(stream, "a") as archive:
        archive.writestr(link, "/etc")
    with pytest.raises(WheelRefused, match="SUB-011"):
        install_wheel(PURE, stream.getvalue(), tmp_path)


@pytest.mark.parametrize("data", [b"", b"text", packed(GOOD)[:-20]])
def test_a_wheel_that_is_no_zip_is_refused(data: bytes, tmp_path: Path) -> None:
    with pytest.raises(WheelRefused, match="zip"):
        install_wheel(PURE, data, tmp_path)


def test_files_in_the_data_folders_go_into_the_package(tmp_path: Path) -> None:
    install_wheel(OWN, packed({**GOOD, "cann_bench-1.0.0.data/platlib/cann_bench/table.bin": b"1"}), tmp_path)
    assert (tmp_path / "cann_bench" / "table.bin").read_bytes() == b"1"
