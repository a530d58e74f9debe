"""Copies entries between a local directory and the remote cache, for `hpu cache remote`."""

from __future__ import annotations

import dataclasses
import os
import pathlib
from collections.abc import Sequence

from habana_frameworks.tensorflow.recipe_store import _plugin, directory
from habana_frameworks.tensorflow.recipe_store.directory import Entry
from habana_frameworks.tensorflow.recipe_store.fitness import Installation, misfits
from habana_frameworks.tensorflow.recipe_store.remote.cache import RemoteCache
from habana_frameworks.tensorflow.recipe_store.remote.errors import (
    NotListableError,
    RefusedError,
    SkippedError,
    StorageError,
)
from habana_frameworks.tensorflow.recipe_store.remote.settings import RemoteSettings
from habana_frameworks.tensorflow.recipe_store.remote.time_limit import time_limit

MAX_FAILURES = 3
"""Failed transfers after which no more are tried; same value as in plugin/recipes/remote_cache.h."""


@dataclasses.dataclass(frozen=True)
class Status:
    """Result of status()."""

    url: str
    remote_entries: int | None
    """Objects in the storage; None if the storage cannot list its objects."""
    local_entries: int
    shared: int
    """Local entries that are also in the storage."""


@dataclasses.dataclass(frozen=True)
class Pushed:
    """Result of push()."""

    entries: tuple[Entry, ...]
    """Uploaded entries."""
    present: int
    """Entries that were already in the storage."""
    failed: dict[str, str]
    """Per key, the reason why the entry was not uploaded."""


@dataclasses.dataclass(frozen=True)
class Pulled:
    """Result of pull()."""

    entries: tuple[Entry, ...]
    """Entries fetched into the directory."""
    present: int
    """Entries that were already in the directory."""
    misfits: dict[str, tuple[str, ...]]
    """Per key, the reasons why no program can load the entry here."""
    refused: dict[str, str]
    """Per key, the reason why the entry was refused."""
    failed: dict[str, str]
    """Per key, the reason why the entry was not fetched."""


class _Transfers:
    """Records failed transfers and stops after MAX_FAILURES."""

    def __init__(self, cache: RemoteCache, timeout: float) -> None:
        self.cache = cache
        self.timeout = timeout
        self.failed: dict[str, str] = {}

    def may_continue(self, key: str) -> bool:
        if len(self.failed) < MAX_FAILURES:
            return True
        self.failed[key] = f"not tried after {MAX_FAILURES} failures"
        return False


def status(path: str | os.PathLike[str], settings: RemoteSettings) -> Status:
    """Compares the directory with the storage. Raises RemoteError if the storage cannot be used."""
    cache = RemoteCache(settings)
    with time_limit(settings.timeout):
        cache.check()
        try:
            remote: int | None = len(cache.keys())
        except NotListableError:
            remote = None
    local = _local_entries(path)
    return Status(settings.url, remote, len(local), sum(holds(cache, entry.key, settings) for entry in local))


def holds(cache: RemoteCache, key: str, settings: RemoteSettings) -> bool:
    """Whether the storage has an object with this key. Raises StorageError after the time limit."""
    with time_limit(settings.timeout):
        return cache.has(key)


def push(path: str | os.PathLike[str], settings: RemoteSettings, overwrite: bool = False) -> Pushed:
    """Uploads the sound entries of a directory that the storage lacks; with `overwrite`, all sound entries.

    Raises RemoteError if the settings are unusable or the storage accepts no uploads, StoreError if the directory
    cannot be read.
    """
    transfers = _Transfers(RemoteCache(settings), settings.timeout)
    pushed, present = [], 0
    for entry in directory.list_entries(path).sound:
        if not transfers.may_continue(entry.key):
            continue
        try:
            if not overwrite and holds(transfers.cache, entry.key, settings):
                present += 1
                continue
            with time_limit(settings.timeout):
                transfers.cache.upload(entry.key, pathlib.Path(path) / f"{entry.key}.recipe")
            pushed.append(entry)
        except (SkippedError, StorageError) as error:
            transfers.failed[entry.key] = str(error) or "the file was removed in the meantime"
    return Pushed(tuple(pushed), present, transfers.failed)


def pull(path: str | os.PathLike[str], settings: RemoteSettings, keys: Sequence[str] = ()) -> Pulled:
    """Fetches entries that fit this installation and machine: the entries `keys`, or all entries if `keys` is empty.

    Raises RemoteError if the settings are unusable or the storage cannot list its entries, StoreError if the directory
    cannot be used.
    """
    transfers = _Transfers(RemoteCache(settings), settings.timeout)
    with time_limit(settings.timeout):
        selected = list(keys) or transfers.cache.keys()
    here = Installation.here()
    local = {entry.key for entry in _local_entries(path)}
    pulled: list[Entry] = []
    unfit: dict[str, tuple[str, ...]] = {}
    refused: dict[str, str] = {}
    for key in selected:
        if key in local or not transfers.may_continue(key):
            continue
        try:
            data = _fetch(transfers, key)
            entry = directory.inspect(key, data)
        except (RefusedError, _plugin.StoreError) as error:
            refused[key] = str(error)
            continue
        except StorageError as error:
            transfers.failed[key] = str(error)
            continue
        if reasons := misfits(entry, here):
            unfit[key] = reasons
            continue
        directory.write(path, key, data)
        pulled.append(entry)
    return Pulled(tuple(pulled), len(local.intersection(selected)), unfit, refused, transfers.failed)


def _fetch(transfers: _Transfers, key: str) -> bytes:
    with time_limit(transfers.timeout):
        file = transfers.cache.fetch(key)
        if file is None:
            raise StorageError("the remote cache has no entry with this key; upload it with hpu cache remote push")
        with file:
            return file.read()


def _local_entries(path: str | os.PathLike[str]) -> tuple[Entry, ...]:
    """Sound entries of the directory; empty if it does not exist yet."""
    return directory.list_entries(path).sound if pathlib.Path(path).exists() else ()
