"""Collecting every fault of a task set before refusing it, and typed reading of declarations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeGuard, TypeVar

from kernel_eval.errors import Fault, SuiteInvalid

Scalar = int | float | str | bool
T = TypeVar("T")


class FaultList:
    """Faults found so far. Parsers add to it and go on; the caller refuses once, with all of them."""

    def __init__(self) -> None:
        self._faults: list[Fault] = []

    def __len__(self) -> int:
        return len(self._faults)

    @property
    def faults(self) -> tuple[Fault, ...]:
        """What was found, in the order of finding."""
        return tuple(self._faults)

    def add(self, rule: str, where: str, message: str) -> None:
        """Note one fault: the rule it breaks, the file and key, what to do. Foreign text in it is made printable."""
        self._faults.append(Fault(rule, printable(where), printable(message)))

    def refuse(self) -> None:
        """Raise `SuiteInvalid` with all faults, if there is one."""
        if self._faults:
            raise SuiteInvalid(self._faults)


def printable(text: str) -> str:
    """Text that a terminal shows as it is, on one line."""
    return "".join(character if character.isprintable() else " " for character in text)


class Section:
    """One mapping of a declaration, read key by key.

    A missing key, a value of another type and a key that nobody reads each
    become a fault; the reader gets an empty value and parsing goes on.
    """

    def __init__(self, data: object, where: str, faults: FaultList) -> None:
        self.where = where
        self.faults = faults
        self._seen: set[str] = set()
        if not isinstance(data, Mapping):
            faults.add("declaration.mapping", where, f"must be a mapping of keys to values, is {_kind(data)}")
            data = {}
        self._data: Mapping[object, object] = data

    def __contains__(self, key: str) -> bool:
        return key in self._data

    def text(self, key: str, default: str | None = None) -> str:
        """A string."""
        value = self._take(key, default)
        return value if isinstance(value, str) else self._wrong(key, value, "text", "")

    def flag(self, key: str, default: bool) -> bool:
        """True or false."""
        value = self._take(key, default)
        return value if isinstance(value, bool) else self._wrong(key, value, "true or false", default)

    def number(self, key: str, default: float | None = None) -> float:
        """An int or float."""
        value = self._take(key, default)
        return value if _is_number(value) else self._wrong(key, value, "a number", 0.0)

    def scalar(self, key: str) -> Scalar | None:
        """A number, text or boolean; None where the key is absent."""
        value = self._take(key, _ABSENT)
        if value is _ABSENT:
            return None
        return value if isinstance(value, int | float | str) else self._wrong(key, value, "one value", None)

    def items(self, key: str, default: Sequence[object] | None = None) -> list[object]:
        """A list of anything."""
        value = self._take(key, default)
        return list(value) if isinstance(value, list | tuple) else self._wrong(key, value, "a list", [])

    def texts(self, key: str, default: Sequence[str] | None = None) -> tuple[str, ...]:
        """A list of strings."""
        values = self.items(key, default)
        if not all(isinstance(value, str) for value in values):
            self._wrong(key, values, "a list of texts", ())
        return tuple(value for value in values if isinstance(value, str))

    def scalars(self, key: str, default: Sequence[Scalar] | None = None) -> tuple[Scalar, ...]:
        """A list of numbers, texts or booleans."""
        values = self.items(key, default)
        if not all(isinstance(value, int | float | str) for value in values):
            self._wrong(key, values, "a list of plain values", ())
        return tuple(value for value in values if isinstance(value, int | float | str))

    def section(self, key: str) -> Section:
        """A mapping; empty where the key is absent."""
        return Section(self._take(key, {}), f"{self.where}.{key}", self.faults)

    def sections(self, key: str) -> list[Section]:
        """A list of mappings."""
        return [
            Section(entry, f"{self.where}.{key}[{index}]", self.faults) for index, entry in enumerate(self.items(key))
        ]

    def names(self) -> tuple[str, ...]:
        """All keys; each counts as read."""
        names = tuple(str(key) for key in self._data)
        self._seen.update(names)
        return names

    def finish(self) -> None:
        """Name every key that nobody read."""
        for key in self._data:
            if key not in self._seen:
                self.faults.add("declaration.unknown_key", self.where, f"unknown key {key!r}; remove or correct it")

    def _take(self, key: str, default: object) -> object:
        self._seen.add(key)
        if key in self._data:
            return self._data[key]
        if default is None:
            self.faults.add("declaration.missing_key", self.where, f"key {key!r} is missing")
            return _MISSING
        return default

    def _wrong(self, key: str, value: object, wanted: str, empty: T) -> T:
        if value is not _MISSING:
            self.faults.add("declaration.type", f"{self.where}.{key}", f"must be {wanted}, is {_kind(value)}")
        return empty


class _Nothing:
    """A value that no file can hold."""


_ABSENT = _Nothing()
_MISSING = _Nothing()


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _kind(value: object) -> str:
    return "empty" if value is None else f"{type(value).__name__} ({value!r:.60})"
