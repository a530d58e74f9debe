"""The interface of a remote storage: objects by name, as the HTTP caches of ccache and Bazel have it."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterator
from typing import BinaryIO

from habana_frameworks.tensorflow.recipe_store.remote.errors import RefusedError

CHUNK_BYTES = 1 << 18


class Storage(abc.ABC):
    """Methods raise StorageError if a transfer fails. Nothing that a storage returns is trusted."""

    @abc.abstractmethod
    def get(self, name: str, max_bytes: int, out: BinaryIO) -> bool:
        """Writes the object to `out`; returns False if there is none. RefusedError if it is larger than `max_bytes`."""

    @abc.abstractmethod
    def put(self, name: str, size: int, chunks: Callable[[], Iterator[bytes]]) -> None:
        """Stores an object whole or not at all, replacing another. DeniedError if the storage takes none."""

    @abc.abstractmethod
    def has(self, name: str) -> bool:
        """Whether there is an object of this name."""

    @abc.abstractmethod
    def names(self) -> list[str]:
        """All names. NotListableError if the storage cannot list them."""

    @abc.abstractmethod
    def check(self) -> None:
        """Raises StorageError if the storage cannot be reached."""

    @abc.abstractmethod
    def close(self) -> None:
        """Ends the connection; the next call makes another one."""


def check_size(size: int, max_bytes: int) -> None:
    """Refuses an object before it is read."""
    if size > max_bytes:
        raise RefusedError(f"it has {size} bytes; an entry has at most {max_bytes}")


def copy(source: BinaryIO, out: BinaryIO, max_bytes: int) -> int:
    """Copies to the end of `source`; returns the number of bytes."""
    done = 0
    while chunk := source.read(CHUNK_BYTES):
        done += len(chunk)
        check_size(done, max_bytes)
        out.write(chunk)
    return done
