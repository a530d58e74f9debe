"""Entries of a recipe directory (TF_RECIPE_CACHE_PATH). plugin/recipes implements the file format and the locks."""

from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING

from habana_frameworks.tensorflow._internal.native import c_api
from habana_frameworks.tensorflow.recipe_store import _plugin

if TYPE_CHECKING:
    from habana_frameworks.tensorflow._internal.messages import report_pb2

NOTES_SUFFIX = ".notes"


@dataclasses.dataclass(frozen=True)
class Entry:
    """One recipe. A recipe with a `problem` would not be loaded, and the fields after `problem` are unknown."""

    key: str
    """SHA-256 of all inputs of the compilation; also the file name without suffix."""
    bytes: int
    used: int
    """Time of the last use, in seconds since 1970, accurate to a minute."""
    problem: str
    cluster: str = ""
    ops: int = 0
    """Number of instructions of the compiled program."""
    created: int = 0
    compile_seconds: float = 0.0
    workspace_bytes: int = 0
    payload_bytes: int = 0
    arguments: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    program: str = ""
    """SHA-256 of the program alone."""
    backend: str = ""
    target: str = ""
    package_version: str = ""
    tensorflow_version: str = ""


@dataclasses.dataclass(frozen=True)
class Listing:
    """Contents of a directory."""

    entries: tuple[Entry, ...]
    damaged: tuple[str, ...]
    """Files that were refused and set aside."""
    pending: tuple[str, ...]
    """Lock and temporary files of running or killed processes."""
    notes: tuple[str, ...] = ()
    """Names of notes about clusters whose sizes change: their keys with NOTES_SUFFIX. read, inspect and write take a
    name in place of a key."""

    @property
    def sound(self) -> tuple[Entry, ...]:
        """The entries that would be loaded."""
        return tuple(entry for entry in self.entries if not entry.problem)


@dataclasses.dataclass(frozen=True)
class Cleaned:
    """Result of clean()."""

    entries: int
    bytes: int
    in_use: int
    """Entries that were due for removal but kept, because a process was reading them."""
    busy: bool
    """Another process was evicting entries, so no entry was removed."""
    leftovers: int
    damaged: int


def list_entries(path: str | os.PathLike[str]) -> Listing:
    """Reads and verifies every entry without marking it as used. All functions of this module raise StoreError."""
    found = _plugin.parse("RecipeListing", _plugin.call("hpu_store_list", os.fsencode(path)))
    return Listing(tuple(map(_entry, found.entries)), tuple(found.damaged), tuple(found.pending), tuple(found.notes))


def clean(path: str | os.PathLike[str], max_bytes: int | None = None, max_unused_seconds: int | None = None) -> Cleaned:
    """Removes leftovers of killed processes, damaged files, and the least recently used entries.

    Removes entries until the rest take at most `max_bytes`, and all entries not used for `max_unused_seconds`. None
    sets no limit. Keeps entries that a process is reading.
    """
    limits = [-1 if limit is None else limit for limit in (max_bytes, max_unused_seconds)]
    done = _plugin.parse("RecipeCleaning", _plugin.call("hpu_store_clean", os.fsencode(path), *limits))
    return c_api.to_dataclass(Cleaned, done)


def read(path: str | os.PathLike[str], key: str) -> bytes:
    """Returns the bytes of an entry. Raises StoreError if the entry does not verify."""
    return _plugin.call("hpu_store_read", os.fsencode(path), key.encode())


def inspect(key: str, data: bytes) -> Entry:
    """Parses an entry from bytes. Raises StoreError if the bytes are not an entry with this key."""
    return _entry(_plugin.parse("RecipeEntry", _plugin.call("hpu_store_inspect", key.encode(), data, len(data))))


def write(path: str | os.PathLike[str], key: str, data: bytes) -> None:
    """Verifies an entry and writes it atomically. Creates the directory if it is missing."""
    _plugin.call("hpu_store_write", os.fsencode(path), key.encode(), data, len(data))


def compare_programs(path: str | os.PathLike[str], before: str, now: str) -> tuple[str, ...]:
    """Describes in a few lines how the programs of the entries `before` and `now` differ."""
    differences = _plugin.call("hpu_store_compare", os.fsencode(path), before.encode(), now.encode())
    return tuple(_plugin.parse("TextList", differences).texts)


def _entry(message: report_pb2.RecipeEntry) -> Entry:
    return c_api.to_dataclass(Entry, message)
