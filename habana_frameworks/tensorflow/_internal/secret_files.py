"""Key and token files, which only their owner may open."""

from __future__ import annotations

import errno
import os
import pathlib
import secrets
import stat

MIN_BYTES = 32
_MAX_BYTES = 1 << 20


class KeyFileError(ValueError):
    """A secret file cannot be used. The message contains the reason and a remedy."""


def read(path: str | os.PathLike[str], what: str = "key", min_bytes: int = MIN_BYTES) -> bytes:
    """Reads a regular file that this user owns and no other user can access (0600). Raises KeyFileError.

    what: "key" or "token", for messages.
    """
    name = pathlib.Path(path)
    try:
        # O_NONBLOCK: opening a named pipe must not block.
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise KeyFileError(
                f"the {what} file {name} cannot be read: it is a symbolic link; pass the path of the file itself"
            ) from error
        raise KeyFileError(
            f"the {what} file {name} cannot be read: {error.strerror}; correct the path or its permissions"
        ) from error
    try:
        secret = _read(descriptor, what, name)
    finally:
        os.close(descriptor)
    if len(secret) < min_bytes:
        raise KeyFileError(
            f"the {what} file {name} has {len(secret)} bytes, but a {what} needs at least {min_bytes}; create one: "
            f"(umask 077; head -c {MIN_BYTES} /dev/urandom{' | base64' if what == 'token' else ''} > FILE)"
        )
    return secret


def of_user(name: str) -> bytes:
    """Returns the user's key `name`. The first call generates a random key.

    The key's file is in the user's state directory (XDG_STATE_HOME). Raises KeyFileError if the file cannot be written
    or read.
    """
    return read(_made(path_of_user(name), "key", secrets.token_bytes(MIN_BYTES)))


def token_of_user(name: str) -> tuple[pathlib.Path, str]:
    """Returns the file and the text of the user's token `name`, in printable ASCII. The first call creates the file."""
    path = _made(path_of_user(name), "token", secrets.token_urlsafe(MIN_BYTES).encode())
    return path, read(path, "token").decode("ascii", errors="replace").strip()


def path_of_user(name: str) -> pathlib.Path:
    """Returns the path of the user's file `name`, which may not exist."""
    directory = pathlib.Path(os.environ.get("XDG_STATE_HOME") or pathlib.Path.home() / ".local/state")
    return directory / "hpu-tensorflow" / name


def _made(path: pathlib.Path, what: str, secret: bytes) -> pathlib.Path:
    """Returns `path`. Creates the file with `secret` if it does not exist."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            _make(path, secret)
    except OSError as error:
        raise KeyFileError(
            f"the {what} file {path} cannot be created: {error.strerror}; set XDG_STATE_HOME to a writable directory"
        ) from error
    return path


def _make(path: pathlib.Path, secret: bytes) -> None:
    """Creates the file atomically. Keeps an existing file, which another process has created."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(secret)
        os.link(temporary, path)
    except FileExistsError:
        pass
    finally:
        temporary.unlink()


def _read(descriptor: int, what: str, name: pathlib.Path) -> bytes:
    info = os.fstat(descriptor)
    if not stat.S_ISREG(info.st_mode):
        raise KeyFileError(f"the {what} file {name} is not a regular file; pass the path of a regular file")
    if info.st_uid != os.geteuid():
        raise KeyFileError(
            f"the {what} file {name} is owned by user {info.st_uid}; the owner must be you (user {os.geteuid()})"
        )
    if info.st_mode & 0o077:
        raise KeyFileError(f"the {what} file {name} is accessible to other users: chmod 600 {name}")
    return os.read(descriptor, _MAX_BYTES)
