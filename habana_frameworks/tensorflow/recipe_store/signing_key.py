"""The user's key that signs bundles: a file with secret bytes."""

from __future__ import annotations

import hashlib
import hmac
import os
import pathlib
import stat

LEAST_BYTES = 32
_MOST_BYTES = 1 << 20


class KeyFileError(ValueError):
    """The key file cannot be used; the message says why and what to do."""


class SigningKey:
    """HMAC-SHA256 under the bytes of a file. Whoever has them can sign: the other machine gets them by a safe way."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Reads the file, an ordinary one that belongs to this user and is open to nobody else (0600)."""
        name = pathlib.Path(path)
        try:
            # Without waiting, should it be a pipe.
            descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError as error:
            raise KeyFileError(f"the key file {name} cannot be read: {error.strerror}") from error
        try:
            self._secret = _read(descriptor, name)
        finally:
            os.close(descriptor)
        if len(self._secret) < LEAST_BYTES:
            raise KeyFileError(
                f"the key file {name} has {len(self._secret)} bytes; a key has at least {LEAST_BYTES}: "
                f"(umask 077; head -c {LEAST_BYTES} /dev/urandom > FILE)"
            )

    def sign(self, data: bytes) -> str:
        """64 hexadecimal digits."""
        return hmac.new(self._secret, data, hashlib.sha256).hexdigest()

    def verifies(self, data: bytes, signature: str) -> bool:
        """Whether sign(data) gives `signature`, in a time that does not tell how much of it is right."""
        return hmac.compare_digest(self.sign(data).encode(), signature.encode())


def _read(descriptor: int, name: pathlib.Path) -> bytes:
    info = os.fstat(descriptor)
    if not stat.S_ISREG(info.st_mode):
        raise KeyFileError(f"the key file {name} is no ordinary file")
    if info.st_uid != os.geteuid():
        raise KeyFileError(f"the key file {name} belongs to user {info.st_uid}, not to you")
    if info.st_mode & 0o077:
        raise KeyFileError(f"others may open the key file {name}: chmod 600 {name}")
    return os.read(descriptor, _MOST_BYTES)
