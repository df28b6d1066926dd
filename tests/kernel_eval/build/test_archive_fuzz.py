"""Whatever is uploaded, the answer is a refusal or exactly the files that the archive holds."""

from __future__ import annotations

import gzip
import io
import lzma
import tarfile
import tempfile
import zipfile
from pathlib import Path

import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernel_eval.build.archive import ArchiveLimits, check_archive, unpack
from kernel_eval.errors import ArchiveRefused
from tests.factories.archives import tar

LIMITS = ArchiveLimits(max_archive_bytes=1 << 20, max_unpacked_bytes=4 << 20, max_entries=100, ratio_free_bytes=1 << 20)
QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
NAMES = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0"), min_size=1, max_size=12)
PATHS = (
    st.lists(st.one_of(NAMES, st.sampled_from(["..", ".", "", "a", "A", "build.sh"])), min_size=1, max_size=5)
    .map("/".join)
    .filter(bool)
)
TREES = st.dictionaries(PATHS, st.binary(max_size=700), max_size=8)
PACKERS = {
    "x.tar": bytes,
    "x.tar.gz": gzip.compress,
    "x.tar.xz": lambda data: lzma.compress(data, preset=0),
    "x.tar.zst": lambda data: zstandard.ZstdCompressor().compress(data),
}


def unpacked(data: bytes, filename: str) -> dict[str, bytes] | None:
    """What unpacking leaves, or None for a refusal; nothing may lie beside the folder in either case."""
    with tempfile.TemporaryDirectory() as place:
        target = Path(place, "target")
        target.mkdir()
        try:
            unpack(io.BytesIO(data), filename, target, LIMITS)
        except ArchiveRefused:
            assert not list(target.iterdir())
            return None
        finally:
            assert [path.name for path in Path(place).iterdir()] == ["target"]
        return {str(path.relative_to(target)): path.read_bytes() for path in target.rglob("*") if path.is_file()}


@QUICK
@given(st.binary(max_size=2000), st.sampled_from([*PACKERS, "x.zip", "x"]))
def test_random_bytes_are_refused(data: bytes, filename: str) -> None:
    assert unpacked(data, filename) is None
    assert filename not in PACKERS or unpacked(PACKERS[filename](data), filename) is None


@QUICK
@given(TREES, st.sampled_from(sorted(PACKERS)), st.sampled_from([tarfile.GNU_FORMAT, tarfile.PAX_FORMAT]))
def test_an_accepted_tar_holds_what_the_standard_library_finds(
    files: dict[str, bytes], filename: str, layout: int
) -> None:
    found = unpacked(PACKERS[filename](tar({**files, "build.sh": b"x"}, layout=layout)), filename)
    if found is not None:
        clean = {
            "/".join(part for part in name.split("/") if part not in ("", ".")): data for name, data in files.items()
        }
        assert found == {**clean, "build.sh": b"x"} or any("._" in name for name in files)


@QUICK
@given(TREES)
def test_an_accepted_zip_holds_what_was_packed(files: dict[str, bytes]) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in {**files, "build.sh": b"x"}.items():
            archive.writestr(name, data)
    found = unpacked(stream.getvalue(), "x.zip")
    assert found is None or set(found.values()) <= {*files.values(), b"x"}


@QUICK
@given(
    st.sampled_from([*sorted(PACKERS), "x.zip"]),
    st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), min_size=1, max_size=4),
    st.integers(0, 10_000),
)
def test_a_damaged_archive_never_does_harm(filename: str, changes: list[tuple[int, int]], cut: int) -> None:
    files = {"top/build.sh": b"echo\n" * 40, "top/csrc/a.cpp": bytes(range(256))}
    if filename == "x.zip":
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in files.items():
                archive.writestr(name, content)
        data = bytearray(stream.getvalue())
    else:
        data = bytearray(PACKERS[filename](tar(files)))
    for position, value in changes:
        data[position % len(data)] = value
    unpacked(bytes(data), filename)
    unpacked(bytes(data[: cut % len(data)]), filename)


@QUICK
@given(TREES)
def test_checking_and_unpacking_agree(files: dict[str, bytes]) -> None:
    data = tar({**files, "build.sh": b"x"})
    try:
        check_archive(io.BytesIO(data), "x.tar", LIMITS)
    except ArchiveRefused:
        assert unpacked(data, "x.tar") is None
    else:
        assert unpacked(data, "x.tar") is not None
