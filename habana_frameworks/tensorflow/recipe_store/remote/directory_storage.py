"""Remote storage in a directory on a shared file system (file:///directory), with one file per object."""

from __future__ import annotations

import errno
import os
import pathlib
import secrets
import socket
import stat
from collections.abc import Callable, Iterator
from typing import BinaryIO

from habana_frameworks.tensorflow.recipe_store.remote.errors import DeniedError, RefusedError, StorageError
from habana_frameworks.tensorflow.recipe_store.remote.storage import Storage, check_size, copy

_DENIED = (errno.EACCES, errno.EPERM, errno.EROFS)
_TEMPORARY_PREFIX = ".tmp-"


class DirectoryStorage(Storage):
    """Storage in an existing directory. A missing directory is an error, because the share may not be mounted."""

    def __init__(self, path: pathlib.Path) -> None:
        self._path = path

    def get(self, name: str, max_bytes: int, out: BinaryIO) -> bool:
        try:
            # O_NONBLOCK: opening a named pipe must not block.
            descriptor = os.open(self._path / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            self.check()
            return False
        except OSError as error:
            raise self._error(name, "cannot be opened", error) from error
        with os.fdopen(descriptor, "rb", buffering=0) as file:
            info = os.fstat(descriptor)
            if not stat.S_ISREG(info.st_mode):
                raise RefusedError("the object is not a regular file; remove it from the storage")
            check_size(info.st_size, max_bytes)
            try:
                copy(file, out, max_bytes)
            except OSError as error:
                raise self._error(name, "cannot be read", error) from error
        return True

    def put(self, name: str, size: int, chunks: Callable[[], Iterator[bytes]]) -> None:
        temporary = self._path / f"{_TEMPORARY_PREFIX}{socket.gethostname()}-{secrets.token_hex(8)}"
        try:
            # Mode 0666: the umask decides whether other users of the team can read the file.
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
            try:
                with os.fdopen(descriptor, "wb") as file:
                    for chunk in chunks():
                        file.write(chunk)
                    file.flush()
                    os.fsync(descriptor)
                temporary.replace(self._path / name)
            except BaseException:
                temporary.unlink()
                raise
        except OSError as error:
            if error.errno in _DENIED:
                raise DeniedError(f"{self._path} cannot be written: {error.strerror}") from error
            raise self._error(name, "cannot be written", error) from error

    def has(self, name: str) -> bool:
        if (self._path / name).is_file():
            return True
        self.check()
        return False

    def names(self) -> list[str]:
        try:
            return [entry.name for entry in self._path.iterdir() if not entry.name.startswith(_TEMPORARY_PREFIX)]
        except OSError as error:
            raise self._error("", "cannot be listed (check the mount and its permissions)", error) from error

    def check(self) -> None:
        if not self._path.is_dir():
            raise StorageError(f"{self._path} is not a directory: create it, or mount the shared file system")

    def close(self) -> None:
        pass

    def _error(self, name: str, what: str, error: OSError) -> StorageError:
        return StorageError(f"{self._path / name} {what}: {error.strerror}")
