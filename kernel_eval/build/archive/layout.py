"""Where in an archive the submission lies, and whether there is anything to build."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from kernel_eval.build.archive.rules import Ledger, Rule, shown
from kernel_eval.build.archive.tree import BUILD_SCRIPT, Tree

DIST = "dist"
WHEEL_SUFFIX = ".whl"
MAX_NAMED = 4


def find_root(tree: Tree, ledger: Ledger) -> str:
    """The prefix to strip: "" or one top-level folder with its slash.

    Notes a fault where there is neither `build.sh` nor a wheel in `dist/`, where
    several folders claim to be the submission, and where `build.sh` is no use.
    """
    paths = tree.files.keys() | tree.refused
    if not paths:
        ledger.add(Rule.EMPTY, "", "the archive holds no file; pack the submission's folder")
        return ""
    tops = sorted({path.split("/", 1)[0] for path in paths})
    root = f"{tops[0]}/" if len(tops) == 1 and not _is_submission(paths, "") and tops[0] not in paths else ""
    if folder := next((path for path in (root + BUILD_SCRIPT, BUILD_SCRIPT) if tree.is_folder(path)), None):
        ledger.add(Rule.BUILD_SCRIPT, folder, "is a folder; it must be a file, which builds a wheel into dist/")
    elif not _is_submission(paths, root):
        _explain(paths, tops, root, ledger)
    elif (script := tree.files.get(root + BUILD_SCRIPT)) is not None and script.size_bytes == 0:
        ledger.add(Rule.BUILD_SCRIPT, BUILD_SCRIPT, "is empty; it must build a wheel into dist/")
    return root


def is_prebuilt(paths: AbstractSet[str], root: str) -> bool:
    """Whether the submission brings wheels and no build script."""
    return root + BUILD_SCRIPT not in paths


def _is_submission(paths: AbstractSet[str], root: str) -> bool:
    return root + BUILD_SCRIPT in paths or any(_is_wheel(path, root) for path in paths)


def _is_wheel(path: str, root: str) -> bool:
    prefix = f"{root}{DIST}/"
    return path.startswith(prefix) and path.endswith(WHEEL_SUFFIX) and "/" not in path[len(prefix) :]


def _explain(paths: AbstractSet[str], tops: list[str], root: str, ledger: Ledger) -> None:
    inner = [top for top in tops if top not in paths and _is_submission(paths, f"{top}/")]
    if len(tops) > 1 and inner:
        names = ", ".join(shown(top) for top in tops[:MAX_NAMED]) + (" …" if len(tops) > MAX_NAMED else "")
        message = (
            f"{BUILD_SCRIPT} lies in {shown(inner[0])}/, but the archive's top level holds {names}; pack one folder"
        )
        ledger.add(Rule.SEVERAL_FOLDERS, "", message)
        return
    message = f"neither {BUILD_SCRIPT} nor {DIST}/*{WHEEL_SUFFIX} at the top"
    similar = next((path for path in paths if path.rsplit("/", 1)[-1].lower() == BUILD_SCRIPT), None)
    if similar is not None:
        message += f"; found {shown(similar)}: it must be {root}{BUILD_SCRIPT}, in lower case"
    ledger.add(Rule.NOTHING_TO_BUILD, "", message)
