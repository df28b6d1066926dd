"""The host's self test: silent where all is there, and able to speak."""

from __future__ import annotations

import pytest

from kernel_eval.errors import SandboxIncomplete
from kernel_eval.sandbox import probes, seccomp, selftest
from kernel_eval.sandbox.selftest import MissingPart, check_host, open_probes

pytestmark = pytest.mark.sandbox


def test_this_host_lacks_nothing() -> None:
    assert check_host() == []


def test_the_probes_succeed_outside_a_box() -> None:
    """A probe that cannot succeed anywhere proves nothing."""
    bait = {"file": __file__, "variable": "PATH", "port": 0, "abstract": "", "tmp_mib": 1, "processes": 1}
    names = {probe.__name__ for probe in probes.PROBES if probes.succeeds(probe, bait)}
    assert {"udp_socket", "netlink_socket", "readable_file_of_the_host", "judges_environment"} <= names
    assert {"processes_of_the_host", "write_to_the_system", "become_root", "control_groups"} <= names


def test_a_box_without_a_filter_is_found_open(monkeypatch: pytest.MonkeyPatch) -> None:
    lib = seccomp._library()

    def sieve() -> bytes:
        rules = lib.SyscallFilter(lib.ALLOW)
        rules.add_rule(lib.ERRNO(1), "reboot")
        return seccomp.exported(rules)

    monkeypatch.setattr(seccomp, "box_filter", sieve)
    found = open_probes()
    assert {"netlink_socket", "io_uring_setup", "keyctl", "unshare"} <= set(found)
    assert any("wall against" in part.part for part in selftest._attacked())


def test_each_missing_part_is_named_with_its_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone() -> None:
        raise SandboxIncomplete("bubblewrap", "Install it.")

    def gone_too() -> None:
        raise SandboxIncomplete("seccomp", "Install that.")

    monkeypatch.setattr(selftest, "PARTS", (gone, gone_too))
    assert check_host() == [MissingPart("bubblewrap", "Install it."), MissingPart("seccomp", "Install that.")]
