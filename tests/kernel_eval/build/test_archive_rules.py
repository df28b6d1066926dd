"""Every bad upload with the rules it breaks, and every good one."""

from __future__ import annotations

import gzip
import hashlib
import io
import lzma
import random
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from kernel_eval.build.archive import ArchiveLimits, Rule, check_archive, unpack
from kernel_eval.errors import ArchiveRefused, UsageError
from tests.factories.archives import (
    lying_zip,
    marked_encrypted,
    raw_header,
    tar,
    tar_info,
    unix_zip_entry,
    zip_,
    zstd,
)  # fmt: skip

GOOD = {"build.sh": b"python setup.py bdist_wheel\n", "csrc/exp.cpp": b"int main;\n"}
SMALL = ArchiveLimits(
    max_archive_bytes=1 << 20, max_unpacked_bytes=12 << 20, max_entries=50, max_depth=6, ratio_free_bytes=1 << 20
)


def refusal(data: bytes, filename: str, limits: ArchiveLimits = SMALL) -> ArchiveRefused:
    with pytest.raises(ArchiveRefused) as caught:
        check_archive(io.BytesIO(data), filename, limits)
    return caught.value


SYMLINK = {"type": tarfile.SYMTYPE, "linkname": "/etc"}
DEVICE_KINDS = (tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE)
BOMB = bytes(4 << 20)

BAD: dict[str, tuple[Callable[[], bytes], str, set[Rule]]] = {
    "not an archive": (lambda: b"#!/bin/sh\necho hi\n" * 40, "x.tar.gz", {Rule.UNKNOWN_FORMAT}),
    "an executable": (lambda: b"\x7fELF" + bytes(600), "x.tar", {Rule.UNKNOWN_FORMAT}),
    "a rar": (lambda: b"Rar!\x1a\x07\x00" + bytes(600), "x.rar", {Rule.UNKNOWN_FORMAT}),
    "an unknown suffix": (lambda: tar(GOOD), "submission.bin", {Rule.UNKNOWN_FORMAT}),
    "an unknown suffix and a link": (
        lambda: tar(GOOD, tar_info("l", **SYMLINK)),
        "x",
        {Rule.UNKNOWN_FORMAT, Rule.LINK},
    ),
    "a zip named tar.gz": (lambda: zip_(dict(GOOD)), "x.tar.gz", {Rule.FORMAT_MISMATCH}),
    "a tar named tar.gz": (lambda: tar(GOOD), "x.tgz", {Rule.FORMAT_MISMATCH}),
    "zero bytes": (lambda: b"", "x.tar.gz", {Rule.EMPTY}),
    "zero bytes and no suffix": (lambda: b"", "x", {Rule.EMPTY, Rule.UNKNOWN_FORMAT}),
    "a tar of nothing": (lambda: bytes(10240), "x.tar", {Rule.EMPTY}),
    "a zip of nothing": (lambda: zip_({}), "x.zip", {Rule.EMPTY}),
    "only folders": (lambda: tar({}, tar_info("a", type=tarfile.DIRTYPE)), "x.tar", {Rule.EMPTY}),
    "only desktop junk": (lambda: tar({".DS_Store": b"x", "__MACOSX/._a": b"x"}), "x.tar", {Rule.EMPTY}),
    "a large upload": (lambda: b"\x1f\x8b" + bytes(2 << 20), "x.tar.gz", {Rule.ARCHIVE_TOO_LARGE}),
    "a gzip cut short": (lambda: gzip.compress(tar(GOOD))[:-12], "x.tar.gz", {Rule.DAMAGED}),
    "a gzip without its checksum": (lambda: gzip.compress(tar(GOOD))[:-8], "x.tar.gz", {Rule.DAMAGED}),
    "an xz cut short": (lambda: lzma.compress(tar(GOOD))[:-9], "x.tar.xz", {Rule.DAMAGED}),
    "a zstd cut short": (lambda: zstd(tar(GOOD))[:-3], "x.tar.zst", {Rule.DAMAGED}),
    "a tar cut short in a file": (lambda: tar({"build.sh": b"x" * 5000})[:3000], "x.tar", {Rule.DAMAGED}),
    "a tar without an end": (lambda: tar({"build.sh": b"x" * 512})[:1024], "x.tar", {Rule.DAMAGED}),
    "a gzip with a wrong checksum": (
        lambda: (lambda data: data[:-8] + bytes([data[-8] ^ 1]) + data[-7:])(gzip.compress(tar(GOOD))),
        "x.tar.gz",
        {Rule.DAMAGED},
    ),
    "a tar header with a wrong checksum": (
        lambda: b"Build.sh" + tar(GOOD)[8:],
        "x.tar",
        {Rule.DAMAGED},
    ),
    "a gzip of no tar": (lambda: gzip.compress(b"hello world" * 100), "x.tar.gz", {Rule.DAMAGED}),
    "a zip cut short": (lambda: zip_(dict(GOOD))[:-30], "x.zip", {Rule.DAMAGED}),
    "a zip with changed content": (
        lambda: zip_(dict(GOOD), zipfile.ZIP_STORED).replace(b"python", b"pythom"),
        "x.zip",
        {Rule.DAMAGED},
    ),
    "a zip that understates a size": (lambda: lying_zip(zip_({"build.sh": b"x" * 500}), 5), "x.zip", {Rule.DAMAGED}),
    "a zip that overstates a size": (lambda: lying_zip(zip_({"build.sh": b"x"}), 1 << 30), "x.zip", {Rule.DAMAGED}),
    "a huge pax record": (
        lambda: raw_header(b"p", b"77777777777", b"x") + bytes(2048),
        "x.tar",
        {Rule.DAMAGED},
    ),
    "a tar that claims 2^80 bytes": (
        lambda: raw_header(b"build.sh", b"\x80\x01" + bytes(10)) + bytes(2048),
        "x.tar",
        {Rule.DAMAGED},
    ),
    "a negative size": (lambda: raw_header(b"build.sh", b"\xff" * 12) + bytes(2048), "x.tar", {Rule.DAMAGED}),
    "many entries": (lambda: tar({f"d/{n}": b"" for n in range(60)}), "x.tar", {Rule.TOO_MANY_ENTRIES}),
    "many entries in a zip": (lambda: zip_({f"d/{n}": b"" for n in range(60)}), "x.zip", {Rule.TOO_MANY_ENTRIES}),
    "many headers of no entry": (
        lambda: gzip.compress(raw_header(b"g", b"0", b"g") * 300 + bytes(1024)),
        "x.tar.gz",
        {Rule.TOO_MANY_ENTRIES},
    ),
    "a gzip bomb": (lambda: gzip.compress(tar({"build.sh": BOMB})), "x.tar.gz", {Rule.RATIO}),
    "an xz bomb": (lambda: lzma.compress(tar({"build.sh": BOMB})), "x.tar.xz", {Rule.RATIO}),
    "a zstd bomb": (lambda: zstd(tar({"build.sh": BOMB})), "x.tar.zst", {Rule.RATIO}),
    "a zip bomb": (lambda: zip_({"build.sh": BOMB}), "x.zip", {Rule.RATIO}),
    "a bomb behind the end of the tar": (
        lambda: gzip.compress(tar(GOOD) + BOMB),
        "x.tar.gz",
        {Rule.RATIO},
    ),
    "more than may be unpacked": (
        lambda: zstd(tar({"build.sh": random.Random(1).randbytes(600_000) * 22})),
        "x.tar.zst",
        {Rule.UNPACKED_TOO_LARGE},
    ),
    "an absolute path": (lambda: tar({**GOOD, "/etc/cron.d/x": b"x"}), "x.tar", {Rule.ABSOLUTE_PATH}),
    "an absolute path in a zip": (lambda: zip_({**GOOD, "/etc/cron.d/x": b"x"}), "x.zip", {Rule.ABSOLUTE_PATH}),
    "a parent path": (lambda: tar({**GOOD, "a/../../x": b"x"}), "x.tar", {Rule.PARENT_PATH}),
    "a parent path in a zip": (lambda: zip_({**GOOD, "../x": b"x"}), "x.zip", {Rule.PARENT_PATH}),
    "a parent path of another system": (lambda: zip_({**GOOD, "..\\..\\x": b"x"}), "x.zip", {Rule.NAME_CHARACTERS}),
    "a symbolic link": (lambda: tar(GOOD, tar_info("link", **SYMLINK)), "x.tar", {Rule.LINK}),
    "a hard link": (
        lambda: tar(GOOD, tar_info("link", type=tarfile.LNKTYPE, linkname="build.sh")),
        "x.tar",
        {Rule.LINK},
    ),
    "a symbolic link in a zip": (
        lambda: zip_({**GOOD, unix_zip_entry("link", stat.S_IFLNK | 0o777): b"/etc"}),
        "x.zip",
        {Rule.LINK},
    ),
    "a write through a link": (
        lambda: tar({"build.sh": b"x"}, tar_info("etc", **SYMLINK), tar_info("etc/passwd", size=4)),
        "x.tar",
        {Rule.LINK},
    ),
    "devices and a pipe": (
        lambda: tar(GOOD, *(tar_info(f"d{n}", type=kind) for n, kind in enumerate(DEVICE_KINDS))),
        "x.tar",
        {Rule.SPECIAL_FILE},
    ),
    "an entry of an unknown type": (lambda: tar(GOOD, tar_info("u", type=b"Q")), "x.tar", {Rule.SPECIAL_FILE}),
    "a socket in a zip": (
        lambda: zip_({**GOOD, unix_zip_entry("s", stat.S_IFSOCK | 0o777): b""}),
        "x.zip",
        {Rule.SPECIAL_FILE},
    ),
    "setuid": (lambda: tar(GOOD, tar_info("su", mode=0o4755)), "x.tar", {Rule.SETUID}),
    "setgid in a zip": (
        lambda: zip_({**GOOD, unix_zip_entry("su", stat.S_IFREG | 0o2755): b""}),
        "x.zip",
        {Rule.SETUID},
    ),
    "a GBK name": (
        lambda: tar({**GOOD, "算子.cpp": b"x"}, layout=tarfile.GNU_FORMAT, encoding="gbk"),
        "x.tar",
        {Rule.NAME_ENCODING},
    ),
    "a newline in a name": (lambda: tar({**GOOD, "a\nb": b"x"}), "x.tar", {Rule.NAME_CHARACTERS}),
    "a right-to-left override": (lambda: tar({**GOOD, "a\u202egpj.sh": b"x"}), "x.tar", {Rule.NAME_CHARACTERS}),
    "a zero byte in a name": (
        lambda: zip_({**GOOD, "a_b": b"x"}).replace(b"a_b", b"a\0b"),
        "x.zip",
        {Rule.NAME_CHARACTERS},
    ),
    "a long name": (lambda: tar({**GOOD, "n" * 256: b"x"}), "x.tar", {Rule.NAME_LENGTH}),
    "a long path": (lambda: tar({**GOOD, "/".join(["n" * 200] * 3): b"x"}), "x.tar", {Rule.NAME_LENGTH}),
    "a deep path": (lambda: tar({**GOOD, "/".join("abcdefgh"): b"x"}), "x.tar", {Rule.DEPTH}),
    "a name twice": (lambda: tar(GOOD, tar_info("build.sh")), "x.tar", {Rule.DUPLICATE}),
    "a name twice by detour": (lambda: tar(GOOD, tar_info("./csrc//exp.cpp")), "x.tar", {Rule.DUPLICATE}),
    "names that differ in case": (lambda: tar({**GOOD, "csrc/EXP.cpp": b""}), "x.tar", {Rule.DUPLICATE}),
    "folders that differ in case": (lambda: tar({**GOOD, "CSRC/a.cpp": b""}), "x.tar", {Rule.DUPLICATE}),
    "names that differ in form": (
        lambda: tar({**GOOD, "caf\u00e9": b"", "cafe\u0301": b""}),
        "x.tar",
        {Rule.DUPLICATE},
    ),
    "a file used as a folder": (lambda: tar({**GOOD, "build.sh/x": b""}), "x.tar", {Rule.FILE_AS_FOLDER}),
    "a folder used as a file": (lambda: tar({**GOOD, "csrc": b""}), "x.tar", {Rule.FILE_AS_FOLDER}),
    "a sparse file": (lambda: tar(GOOD) and raw_header(b"s", b"0", b"S") + bytes(1024), "x.tar", {Rule.SPARSE}),
    "a pax sparse file": (
        lambda: tar(GOOD, tar_info("s", pax_headers={"GNU.sparse.major": "1"})),
        "x.tar",
        {Rule.SPARSE},
    ),
    "an encrypted zip": (lambda: marked_encrypted(zip_({"build.sh": b"x"})), "x.zip", {Rule.ENCRYPTED}),
    "a zip packed with bzip2": (lambda: zip_(dict(GOOD), zipfile.ZIP_BZIP2), "x.zip", {Rule.UNSUPPORTED_ZIP}),
    "nothing to build": (lambda: tar({"a/readme.md": b"x"}), "x.tar", {Rule.NOTHING_TO_BUILD}),
    "a misspelt build script": (lambda: tar({"a/Build.SH": b"x"}), "x.tar", {Rule.NOTHING_TO_BUILD}),
    "a build script too deep": (lambda: tar({"a/b/build.sh": b"x"}), "x.tar", {Rule.NOTHING_TO_BUILD}),
    "an empty dist": (lambda: tar({"a/dist/readme.md": b"x"}), "x.tar", {Rule.NOTHING_TO_BUILD}),
    "two top folders": (lambda: tar({"a/build.sh": b"x", "b/build.sh": b"x"}), "x.tar", {Rule.SEVERAL_FOLDERS}),
    "a file beside the folder": (lambda: tar({"a/build.sh": b"x", "README": b"x"}), "x.tar", {Rule.SEVERAL_FOLDERS}),
    "a folder as build script": (lambda: tar({"build.sh/x": b"x", "csrc/x": b"x"}), "x.tar", {Rule.BUILD_SCRIPT}),
    "a folder as build script alone": (lambda: tar({"build.sh/x": b"x"}), "x.tar", {Rule.BUILD_SCRIPT}),
    "a folder as build script in the top folder": (
        lambda: zip_({"a/build.sh/": b"", "a/x": b"x"}),
        "x.zip",
        {Rule.BUILD_SCRIPT},
    ),
    "a folder as build script beside a wheel": (
        lambda: tar({"dist/a.whl": b"x"}, tar_info("build.sh", type=tarfile.DIRTYPE)),
        "x.tar",
        {Rule.BUILD_SCRIPT},
    ),
    "an empty build script": (lambda: tar({"build.sh": b""}), "x.tar", {Rule.BUILD_SCRIPT}),
    "something behind a gzip": (lambda: gzip.compress(tar(GOOD)) + b"PK\x03\x04", "x.tar.gz", {Rule.TRAILING_DATA}),
    "something behind a tar": (lambda: tar(GOOD) + b"more", "x.tar", {Rule.TRAILING_DATA}),
    "something behind a zip": (lambda: zip_(dict(GOOD)) + b"more", "x.zip", {Rule.TRAILING_DATA}),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_upload_is_refused_with_the_rules_it_breaks(name: str) -> None:
    make, filename, rules = BAD[name]
    error = refusal(make(), filename)
    assert {fault.rule for fault in error.faults} == {rule.value for rule in rules}
    assert all(fault.message for fault in error.faults)


@pytest.mark.parametrize("name", BAD)
def test_a_refused_upload_leaves_the_folder_empty_and_nothing_beside_it(name: str, tmp_path: Path) -> None:
    make, filename, _ = BAD[name]
    target = tmp_path / "target"
    target.mkdir()
    with pytest.raises(ArchiveRefused):
        unpack(io.BytesIO(make()), filename, target, SMALL)
    assert list(tmp_path.rglob("*")) == [target]


def test_every_rule_has_a_bad_upload() -> None:
    assert {rule for _, _, rules in BAD.values() for rule in rules} == set(Rule)


def test_all_faults_are_reported_at_once() -> None:
    data = tar(
        {"readme": b"x", "/abs": b"x", "../up": b"x", "a\tb": b"x"},
        tar_info("l", **SYMLINK),
        tar_info("su", mode=0o6755),
        tar_info("pipe", type=tarfile.FIFOTYPE),
        tar_info("README"),
    )
    found = [fault.rule for fault in refusal(data, "x.zip").faults]
    expected = [
        Rule.FORMAT_MISMATCH,
        Rule.ABSOLUTE_PATH,
        Rule.PARENT_PATH,
        Rule.NAME_CHARACTERS,
        Rule.LINK,
        Rule.SETUID,
        Rule.SPECIAL_FILE,
        Rule.DUPLICATE,
        Rule.NOTHING_TO_BUILD,
    ]
    assert found == [rule.value for rule in expected]


def test_a_refusal_lists_a_bounded_number_of_faults_and_counts_the_rest() -> None:
    data = tar({f"/{n}": b"" for n in range(250)})
    faults = refusal(data, "x.tar", ArchiveLimits()).faults
    assert len(faults) == 101
    assert "151 further faults" in faults[-1].message


def test_messages_show_submitted_names_without_control_characters() -> None:
    message = str(refusal(tar({**GOOD, "a\x1b[31m\u202e\n" + "b" * 200: b"x"}), "x.tar"))
    assert "\x1b" not in message
    assert "\u202e" not in message
    assert "\n" not in message
    assert len(message) < 600


PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "x.tar": bytes,
    "x.tar.gz": gzip.compress,
    "x.tgz": gzip.compress,
    "x.tar.xz": lzma.compress,
    "x.tar.zst": zstd,
    "X.TAR.GZ": lambda data: gzip.compress(data[:700]) + gzip.compress(data[700:]) + bytes(100),
    "multi.tar.zst": lambda data: zstd(data[:700]) + zstd(data[700:]),
    "streamed.tar.zst": lambda data: zstandard.ZstdCompressor(write_content_size=False).compress(data),
}


@pytest.mark.parametrize("filename", PACKINGS)
@pytest.mark.parametrize("layout", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_every_tar_packing_unpacks_to_the_same_files(filename: str, layout: int, tmp_path: Path) -> None:
    deep = f"{'d' * 90}/{'f' * 95}.cpp"
    files = {f"top/{name}": data for name, data in {**GOOD, deep: b"deep\n" * 999}.items()}
    data = PACKINGS[filename](tar(files, layout=layout))
    unpacked = unpack(io.BytesIO(data), filename, tmp_path)
    written = {str(path.relative_to(tmp_path)): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert written == {**GOOD, deep: b"deep\n" * 999}
    assert unpacked.root == "top"
    assert unpacked.sha256 == hashlib.sha256(data).hexdigest()
    assert {entry.path: entry.size_bytes for entry in unpacked.entries} == {k: len(v) for k, v in written.items()}


def test_a_zip_unpacks_with_its_executable_bits_and_without_desktop_junk(tmp_path: Path) -> None:
    files: dict[str | zipfile.ZipInfo, bytes] = {
        "top/": b"",
        unix_zip_entry("top/build.sh", stat.S_IFREG | 0o755): b"x",
        unix_zip_entry("top/算子.cpp", stat.S_IFREG | 0o600): b"y",
        "__MACOSX/top/._build.sh": b"junk",
        "top/.DS_Store": b"junk",
    }
    unpacked = unpack(io.BytesIO(zip_(files)), "x.zip", tmp_path)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert modes == {"build.sh": 0o755, "算子.cpp": 0o644}
    assert [entry.executable for entry in unpacked.entries] == [True, False]


def test_a_zip_name_in_utf8_without_its_mark_is_read_as_utf8() -> None:
    data = zip_({"build.sh": b"x", "ab/c": b"x"}).replace(b"ab/c", "é/c".encode())
    unpacked = check_archive(io.BytesIO(data), "x.zip")
    assert [entry.path for entry in unpacked.entries] == ["build.sh", "é/c"]


@pytest.mark.parametrize(
    ("files", "root", "prebuilt"),
    [
        ({"build.sh": b"x"}, "", False),
        ({"./build.sh": b"x", "./a/b": b"x"}, "", False),
        ({"top/build.sh": b"x"}, "top", False),
        ({"top/dist/a.whl": b"x"}, "top", True),
        ({"dist/a.whl": b"x"}, "", True),
        ({"dist/build.sh": b"x"}, "dist", False),
        ({"build.sh": b"x", "dist/a.whl": b"x"}, "", False),
    ],
)
def test_one_top_folder_is_stripped(files: dict[str, bytes], root: str, prebuilt: bool, tmp_path: Path) -> None:
    unpacked = unpack(io.BytesIO(tar(files)), "x.tar", tmp_path)
    assert (unpacked.root, unpacked.prebuilt) == (root, prebuilt)
    assert (tmp_path / "build.sh").exists() is not prebuilt


def test_a_folder_named_like_the_stripped_one_stays(tmp_path: Path) -> None:
    data = tar({"top/build.sh": b"x"}, tar_info("top/top", type=tarfile.DIRTYPE), tar_info("b", type=tarfile.DIRTYPE))
    unpack(io.BytesIO(data), "x.tar", tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["build.sh", "top"]


def test_a_stream_that_cannot_seek_is_judged_all_the_same(tmp_path: Path) -> None:
    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

        def seek(self, *_: int) -> int:
            raise io.UnsupportedOperation

    data = zip_(dict(GOOD))
    assert unpack(Pipe(data), "x.zip", tmp_path).size_bytes == len(data)
    assert (tmp_path / "build.sh").read_bytes() == GOOD["build.sh"]


def test_unpacking_needs_an_empty_folder(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("keep")
    with pytest.raises(UsageError, match="empty folder"):
        unpack(io.BytesIO(tar(GOOD)), "x.tar", tmp_path)
    assert (tmp_path / "mine").read_text() == "keep"


def test_a_failing_write_leaves_the_folder_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kernel_eval.build.archive import unpack as module

    real = module.__globals__["write_file"]

    def full_disk(path: Path, member: object) -> None:
        if path.name == "exp.cpp":
            raise OSError(28, "No space left on device")
        real(path, member)

    monkeypatch.setitem(module.__globals__, "write_file", full_disk)
    with pytest.raises(OSError, match="No space"):
        unpack(io.BytesIO(tar(GOOD)), "x.tar", tmp_path)
    assert list(tmp_path.iterdir()) == []
