"""The key that signs bundles and entries of a remote cache: a file with secret bytes."""

from __future__ import annotations

import hashlib
import hmac
import os

from habana_frameworks.tensorflow._internal import secret_files


class SigningKey:
    """HMAC-SHA256 under the bytes of a file. Whoever has them can sign: the other machine gets them by a safe way."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Reads the file, an ordinary one that belongs to this user and is open to nobody else (0600)."""
        self._secret = secret_files.read(path)

    def code(self) -> hmac.HMAC:
        """For data that comes in pieces."""
        return hmac.new(self._secret, digestmod=hashlib.sha256)

    def sign(self, data: bytes) -> str:
        """64 hexadecimal digits."""
        return hmac.new(self._secret, data, hashlib.sha256).hexdigest()

    def verifies(self, data: bytes, signature: str) -> bool:
        """Whether sign(data) gives `signature`, in a time that does not tell how much of it is right."""
        return hmac.compare_digest(self.sign(data).encode(), signature.encode())
