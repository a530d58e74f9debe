"""Entries of a directory that TF_RECIPE_CACHE_PATH names. plugin/recipes knows the format of files and their locks."""

from __future__ import annotations

import ctypes
import dataclasses
import json
import os
from collections.abc import Mapping
from typing import Any

from habana_frameworks.tensorflow.recipe_store import _plugin


@dataclasses.dataclass(frozen=True)
class Entry:
    """One recipe. Where `problem` is not empty, it would not be loaded, and what follows it is not known."""

    key: str
    """SHA-256 of all that the recipe was made from; the file's name without suffix."""
    bytes: int
    used: int
    """When a process last took it, in seconds since 1970, exact to a minute."""
    problem: str
    cluster: str = ""
    ops: int = 0
    """Instructions of the program that was compiled."""
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
    """What a directory holds."""

    entries: tuple[Entry, ...]
    damaged: tuple[str, ...]
    """Files that were refused and set aside."""
    pending: tuple[str, ...]
    """Lock and temporary files, of processes at work or of killed ones."""

    @property
    def sound(self) -> tuple[Entry, ...]:
        """The entries that would be loaded."""
        return tuple(entry for entry in self.entries if not entry.problem)


@dataclasses.dataclass(frozen=True)
class Cleaned:
    """What clean() removed."""

    entries: int
    bytes: int
    in_use: int
    """Entries that had to go and stayed, for a process was reading them."""
    busy: bool
    """Another process was evicting at that moment, so no entry was removed."""
    leftovers: int
    damaged: int


def list_entries(path: str | os.PathLike[str]) -> Listing:
    """Reads and verifies every entry; marks none as used. Raises StoreError, as all functions of this module."""
    data = json.loads(_plugin.call("hpu_store_list", os.fsencode(path)))
    return Listing(tuple(map(_entry, data["entries"])), tuple(data["damaged"]), tuple(data["pending"]))


def clean(path: str | os.PathLike[str], max_bytes: int | None = None, max_unused_seconds: int | None = None) -> Cleaned:
    """Removes leftovers of killed processes, what was set aside, and the least recently used entries.

    Entries go until the others take at most `max_bytes`, and those go that were not used for `max_unused_seconds`; None
    sets no limit. An entry that a process is reading stays.
    """
    limits = [ctypes.c_int64(-1 if limit is None else limit) for limit in (max_bytes, max_unused_seconds)]
    return Cleaned(**json.loads(_plugin.call("hpu_store_clean", os.fsencode(path), *limits)))


def read(path: str | os.PathLike[str], key: str) -> bytes:
    """The bytes of an entry that verifies."""
    return _plugin.call("hpu_store_read", os.fsencode(path), key.encode())


def inspect(key: str, data: bytes) -> Entry:
    """What bytes from elsewhere hold; StoreError if they are no entry of this key."""
    return _entry(json.loads(_plugin.call("hpu_store_inspect", key.encode(), data, ctypes.c_size_t(len(data)))))


def write(path: str | os.PathLike[str], key: str, data: bytes) -> None:
    """Puts an entry that verifies in place, whole or not at all; makes the directory if need be."""
    _plugin.call("hpu_store_write", os.fsencode(path), key.encode(), data, ctypes.c_size_t(len(data)))


def compare_programs(path: str | os.PathLike[str], before: str, now: str) -> tuple[str, ...]:
    """How the program of entry `now` differs from that of entry `before`, in a few lines for people."""
    return tuple(json.loads(_plugin.call("hpu_store_compare", os.fsencode(path), before.encode(), now.encode())))


def _entry(data: Mapping[str, Any]) -> Entry:
    texts = {name: tuple(data.get(name, ())) for name in ("arguments", "results")}
    return Entry(**{**data, **texts})
