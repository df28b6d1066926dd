"""The tree an archive describes: judges each entry's name and kind, then the whole."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from kernel_eval.build.archive.member import Kind, Member
from kernel_eval.build.archive.rules import ArchiveLimits, Ledger, Rule

BUILD_SCRIPT = "build.sh"
JUNK_NAMES = frozenset({".DS_Store", "Thumbs.db", "desktop.ini", "__MACOSX", ".Spotlight-V100", ".Trashes"})
JUNK_PREFIX = "._"
FORBIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
"""Control, format (bidi overrides among them), surrogate, private use, line and paragraph separators."""
SPECIAL_BITS = 0o7000
EXECUTABLE_BITS = 0o111


@dataclass(frozen=True)
class Entry:
    """A regular file of a submission, by its path below the submission's own folder."""

    path: str
    size_bytes: int
    executable: bool = False


@dataclass
class Tree:
    """Collects the accepted entries of one archive; every broken rule goes to the ledger."""

    limits: ArchiveLimits
    ledger: Ledger
    files: dict[str, Entry] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    """Clean paths of refused entries, so that no entry is called missing that is there but refused."""
    _seen: dict[str, tuple[str, Kind]] = field(default_factory=dict)
    members: int = 0
    """Entries judged so far, of any kind."""

    def judge(self, member: Member) -> str | None:
        """The member's clean path if it is a file or folder to keep, else None."""
        self.members += 1
        path = self._path(member)
        sound = self._kind_is_sound(member)
        for rule, message in member.problems:
            self.ledger.add(Rule(rule), member.label, message)
        if not path or is_junk(path):
            return None
        if sound and not member.problems:
            return path if self._is_new(path, member) else None
        self.refused.add(path)
        return None

    def add_file(self, path: str, size_bytes: int, mode: int) -> None:
        """Keep the file at `path`."""
        self.files[path] = Entry(path, size_bytes, bool(mode & EXECUTABLE_BITS))

    def is_folder(self, path: str) -> bool:
        """Whether a folder of that name was kept, by itself or because something lies in it."""
        return self._seen.get(folded(path)) == (path, Kind.FOLDER)

    def _path(self, member: Member) -> str | None:
        """The normalised path; "" for the archive's own root; None where the name breaks a rule."""
        if member.name is None:
            self.ledger.add(
                Rule.NAME_ENCODING, member.label, "the name isn't UTF-8; rename it or pack with UTF-8 names"
            )
            return None
        parts = [part for part in member.name.split("/") if part not in ("", ".")]
        faults = self._name_faults(member.name, parts, member.kind is not Kind.FOLDER)
        for rule, message in faults:
            self.ledger.add(rule, member.name, message)
        return None if faults else "/".join(parts)

    def _name_faults(self, name: str, parts: list[str], is_file: bool) -> list[tuple[Rule, str]]:
        limits = self.limits
        checks = (
            (name.startswith("/"), Rule.ABSOLUTE_PATH, "absolute path; pack from within the folder"),
            (".." in parts, Rule.PARENT_PATH, "path with '..'; pack from within the folder"),
            (not parts and is_file, Rule.NAME_CHARACTERS, "a file without a name"),
            (
                "\\" in name or any(unicodedata.category(char) in FORBIDDEN_CATEGORIES for char in name),
                Rule.NAME_CHARACTERS,
                "name with a backslash, control or invisible character; rename it",
            ),
            (
                len(name.encode("utf-8", "replace")) > limits.max_path_bytes
                or any(len(part.encode("utf-8", "replace")) > limits.max_name_bytes for part in parts),
                Rule.NAME_LENGTH,
                f"longer than {limits.max_path_bytes} bytes, or a part longer than {limits.max_name_bytes}; shorten it",
            ),
            (len(parts) > limits.max_depth, Rule.DEPTH, f"deeper than {limits.max_depth} folders; flatten it"),
        )
        return [(rule, message) for broken, rule, message in checks if broken]

    def _kind_is_sound(self, member: Member) -> bool:
        if member.kind in (Kind.SYMLINK, Kind.HARDLINK):
            self.ledger.add(Rule.LINK, member.label, f"{member.kind}; pack the file itself (tar --dereference)")
        elif member.kind is Kind.SPARSE:
            self.ledger.add(Rule.SPARSE, member.label, "sparse file; pack without --sparse")
        elif member.kind not in (Kind.FILE, Kind.FOLDER):
            self.ledger.add(Rule.SPECIAL_FILE, member.label, f"{member.kind}; only files and folders are accepted")
        elif member.kind is Kind.FILE and member.mode & SPECIAL_BITS:
            self.ledger.add(Rule.SETUID, member.label, "setuid, setgid or sticky bit set; clear it (chmod a-s,-t)")
        else:
            return True
        return False

    def _is_new(self, path: str, member: Member) -> bool:
        parents = [str(parent) for parent in PurePosixPath(path).parents][:-1]
        for parent in parents:
            earlier = self._seen.setdefault(folded(parent), (parent, Kind.FOLDER))
            if earlier[1] is not Kind.FOLDER:
                self.ledger.add(Rule.FILE_AS_FOLDER, path, f"lies below {earlier[0]}, which is a file")
                return False
            if earlier[0] != parent:
                self.ledger.add(
                    Rule.DUPLICATE, path, f"differs from {earlier[0]} only in case or Unicode form; rename one"
                )
                return False
        earlier = self._seen.setdefault(folded(path), (path, member.kind))
        if earlier == (path, Kind.FOLDER) and member.kind is Kind.FOLDER:
            return True
        if earlier[0] == path and path not in self.files and earlier[1] is member.kind:
            return True
        self._clash(path, earlier, member.kind)
        return False

    def _clash(self, path: str, earlier: tuple[str, Kind], kind: Kind) -> None:
        if earlier[0] != path:
            message = f"differs from {earlier[0]} only in case or Unicode form; rename one"
            self.ledger.add(Rule.DUPLICATE, path, message)
        elif earlier[1] is not kind:
            self.ledger.add(Rule.FILE_AS_FOLDER, path, "both a file and a folder")
        else:
            self.ledger.add(Rule.DUPLICATE, path, "appears twice; pack each file once")


def folded(path: str) -> str:
    """The key under which names must be unique: Unicode NFC, then case folding, then NFC again."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def is_junk(path: str) -> bool:
    """Whether a desktop system left it there."""
    return any(part in JUNK_NAMES or part.startswith(JUNK_PREFIX) for part in path.split("/"))
