"""Interface of a remote storage: named objects, like the HTTP caches of ccache and Bazel."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterator
from typing import BinaryIO

from habana_frameworks.tensorflow.recipe_store.remote.errors import RefusedError

CHUNK_BYTES = 1 << 18


class Storage(abc.ABC):
    """A remote storage. Methods raise StorageError if a transfer fails. Callers must verify all returned data."""

    @abc.abstractmethod
    def get(self, name: str, max_bytes: int, out: BinaryIO) -> bool:
        """Writes an object to `out`; returns False if the object is missing. Raises RefusedError beyond `max_bytes`."""

    @abc.abstractmethod
    def put(self, name: str, size: int, chunks: Callable[[], Iterator[bytes]]) -> None:
        """Stores or replaces an object atomically. Raises DeniedError if the storage accepts no uploads."""

    @abc.abstractmethod
    def has(self, name: str) -> bool:
        """Whether the storage has an object with this name."""

    @abc.abstractmethod
    def names(self) -> list[str]:
        """Returns all names. Raises NotListableError if the storage cannot list them."""

    @abc.abstractmethod
    def check(self) -> None:
        """Raises StorageError if the storage cannot be reached."""

    @abc.abstractmethod
    def close(self) -> None:
        """Closes the connection. The next call opens a new connection."""


def check_size(size: int, max_bytes: int) -> None:
    """Raises RefusedError if an object exceeds `max_bytes`."""
    if size > max_bytes:
        raise RefusedError(
            f"the object is too large: at least {size} bytes, limit {max_bytes}; remove it from the storage"
        )


def copy(source: BinaryIO, out: BinaryIO, max_bytes: int) -> int:
    """Copies the rest of `source` and returns the number of bytes. Raises RefusedError beyond `max_bytes`."""
    done = 0
    while chunk := source.read(CHUNK_BYTES):
        done += len(chunk)
        check_size(done, max_bytes)
        out.write(chunk)
    return done
