"""Finds the control groups this process may use: v2 with controllers, or v1 controllers with v2 for killing."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from kernel_eval.errors import SandboxIncomplete
from kernel_eval.sandbox.kernel_files import read_file
from kernel_eval.sandbox.rootless import rootless

NEEDED = ("memory", "pids")
OPTIONAL = ("cpu",)
JUDGE_LEAF = "judge"
"""On v2 the judge steps into this leaf, because a group that hands out controllers may hold no processes."""


@dataclass(frozen=True)
class Hierarchy:
    """Where job groups are made: `kill` lies on v2; `controllers` maps a controller's name to its folder.

    With `unified` every controller's folder is `kill` itself.
    """

    unified: bool
    kill: Path
    controllers: dict[str, Path]

    def without(self, controller: str) -> Hierarchy:
        """The same without a controller that is not needed; on v1 that spares a move per process."""
        left = {name: folder for name, folder in self.controllers.items() if name != controller}
        return replace(self, controllers=left)

    @property
    def roots(self) -> tuple[Path, ...]:
        """The distinct folders under which a job has one group each, the one for killing first."""
        return tuple(dict.fromkeys((self.kill, *self.controllers.values())))


@dataclass(frozen=True)
class _Mount:
    root: str
    point: Path
    kind: str
    options: frozenset[str]


def _mounts(table: str) -> list[_Mount]:
    """The cgroup mounts in the content of a `mountinfo`."""
    found = []
    for line in table.splitlines():
        left, _, right = line.partition(" - ")
        fields, (kind, _, options) = left.split(), right.split(" ", 2)
        if kind in ("cgroup", "cgroup2"):
            found.append(_Mount(fields[3], Path(fields[4]), kind, frozenset(options.split(","))))
    return found


def own_groups(pid: int | str = "self") -> dict[str, str]:
    """Group path of a process per controller name; v2 under the empty name."""
    groups = {}
    for line in read_file(f"/proc/{pid}/cgroup").splitlines():
        _, names, path = line.split(":", 2)
        groups.update(dict.fromkeys(names.split(","), path))
    return groups


def _place(mount: _Mount, group: str) -> Path:
    """Folder of a group below its mount, where the mount may show only a part of the tree."""
    relative = os.path.relpath(group, mount.root)
    return mount.point if relative.startswith("..") else (mount.point / relative)


def _fix(what: str) -> SandboxIncomplete:
    return SandboxIncomplete("cgroup", what)


def _may_use(group: Path) -> bool:
    """Whether this process may make groups here and move its own processes into them."""
    return os.access(group, os.W_OK | os.X_OK) and os.access(group / "cgroup.procs", os.W_OK)


def _delegation(folders: Iterable[Path]) -> str:
    """How a user comes by control groups of its own below `folders`."""
    user = os.geteuid()
    own = f"$d/hapboard-{user}"
    return (
        "Without root the judge must start in control groups that are its user's own. With systemd: "
        "systemd-run --user --scope -p Delegate=yes make up. Without, as root, where SHELL is the pid of the user's "
        f"shell: for d in {' '.join(dict.fromkeys(map(str, folders)))}; do mkdir -p {own}; "
        f"chown {user} {own} {own}/cgroup.*; echo SHELL > {own}/cgroup.procs; done"
    )


def _enabled(group: Path) -> set[str]:
    """Controllers that the children of a group may use."""
    return set((group / "cgroup.subtree_control").read_text().split())


def _step_aside(base: Path) -> None:
    """Move what lives in a group into a leaf of it, since a group that hands out controllers may hold no processes."""
    leaf = base / JUDGE_LEAF
    leaf.mkdir(exist_ok=True)
    for pid in (base / "cgroup.procs").read_text().split():
        (leaf / "cgroup.procs").write_text(pid)


def _is_true_root(group: Path) -> bool:
    """Whether a group is the root of all, the only one without a type, which may hold processes as well."""
    return not (group / "cgroup.type").exists()


def _handing_down(base: Path, top: Path, wanted: set[str]) -> Path:
    """The group below which jobs are made: the own one where it hands controllers down or can be made to.

    Other people's processes in it are left where they are if the root of all can take the jobs instead.
    """
    if wanted <= _enabled(base):
        return base
    alone = set((base / "cgroup.procs").read_text().split()) <= {str(os.getpid())}
    if not alone and not rootless() and _is_true_root(top) and wanted <= _enabled(top):
        return top
    if not _is_true_root(base):
        _step_aside(base)
    (base / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in sorted(wanted)))
    return base


def _unified(mount: _Mount, groups: dict[str, str]) -> Hierarchy | None:
    """The v2 hierarchy if it has the needed controllers here, else None."""
    base = _place(mount, groups.get("", "/"))
    if base.name == JUDGE_LEAF:
        base = base.parent
    offered = set((base / "cgroup.controllers").read_text().split())
    if not offered.issuperset(NEEDED):
        return None
    wanted = offered & {*NEEDED, *OPTIONAL}
    if rootless() and not _may_use(base):
        raise _fix(f"The group {base} is not the judge's. {_delegation([mount.point])}.")
    try:
        chosen = _handing_down(base, mount.point, wanted)
    except OSError as error:
        raise _fix(f"Delegate the group {base} to the judge (systemd: Delegate=yes) ({error}).") from error
    return Hierarchy(True, chosen, dict.fromkeys(wanted, chosen))


def find_hierarchy() -> Hierarchy:
    """The groups to use on this host. Raises `SandboxIncomplete` where a needed controller or v2 is missing."""
    return choose_hierarchy(Path("/proc/self/mountinfo").read_text(), own_groups())


def choose_hierarchy(table: str, groups: dict[str, str]) -> Hierarchy:
    """The same for a given `mountinfo` and given own groups."""
    mounts = _mounts(table)
    second = next((mount for mount in mounts if mount.kind == "cgroup2"), None)
    if second is None:
        raise _fix("Mount a v2 hierarchy, for killing at least: mount -t cgroup2 none /sys/fs/cgroup/unified.")
    if found := _unified(second, groups):
        return found
    firsts = {
        name: _place(mount, groups.get(name, "/"))
        for name in (*NEEDED, *OPTIONAL)
        for mount in mounts
        if mount.kind == "cgroup" and name in mount.options
    }
    if missing := [name for name in NEEDED if name not in firsts]:
        raise _fix(f"Controller {', '.join(missing)} is neither on v2 nor mounted as v1; enable it at boot.")
    found = Hierarchy(False, _place(second, groups.get("", "/")), firsts)
    return _own(found, mounts) if rootless() else found


def _own(found: Hierarchy, mounts: list[_Mount]) -> Hierarchy:
    """The same so far as it is this user's; all but the controllers that can be done without has to be."""
    controllers = {name: place for name, place in found.controllers.items() if name in NEEDED or _may_use(place)}
    left = replace(found, controllers=controllers)
    if foreign := [place for place in left.roots if not _may_use(place)]:
        names = {*NEEDED, *OPTIONAL}
        points = [mount.point for mount in mounts if mount.kind == "cgroup2" or names & mount.options]
        raise _fix(f"{', '.join(map(str, foreign))} is not the judge's. {_delegation(points)}.")
    return left
