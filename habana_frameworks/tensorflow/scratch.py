"""Temporary directories that do not pile up where processes are killed."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pathlib
import shutil
import tempfile
from collections.abc import Iterator


@contextlib.contextmanager
def directory(prefix: str) -> Iterator[pathlib.Path]:
    """A directory of this process's own, removed at the end of the block.

    Removes also what processes of this user that were killed left of the same prefix: their locks are gone.
    """
    for left in pathlib.Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        with contextlib.suppress(OSError):  # somebody else's, in use, or removed meanwhile
            _remove(left, _lock(left))
    made, descriptor = _make(prefix)
    try:
        yield made
    finally:
        _remove(made, descriptor)


def _make(prefix: str) -> tuple[pathlib.Path, int | None]:
    while True:
        made = pathlib.Path(tempfile.mkdtemp(prefix=prefix))
        try:
            return made, _lock(made)
        except (BlockingIOError, FileNotFoundError):
            continue  # another process took it for a leftover before it was locked
        except OSError:
            return made, None  # no file system with locks: nobody will remove it


def _lock(path: pathlib.Path) -> int:
    """A descriptor that holds it. Raises OSError unless it is a directory of this user's that nobody has locked."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if os.fstat(descriptor).st_uid != os.geteuid():
            raise PermissionError(f"{path} belongs to another user")
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.stat()  # or it was removed before
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _remove(path: pathlib.Path, descriptor: int | None) -> None:
    shutil.rmtree(path, ignore_errors=True)
    if descriptor is not None:
        os.close(descriptor)
