"""Key that signs bundles and entries of a remote cache, read from a file."""

from __future__ import annotations

import hashlib
import hmac
import os

from habana_frameworks.tensorflow._internal import secret_files


class SigningKey:
    """HMAC-SHA256 with the bytes of a file as key.

    Verification needs the secret key itself, so transfer the key to other machines only over a safe channel.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Reads the file, which must be a regular file that only this user can access (0600). Raises KeyFileError."""
        self._secret = secret_files.read(path)

    def code(self) -> hmac.HMAC:
        """Returns an HMAC object, for data in chunks."""
        return hmac.new(self._secret, digestmod=hashlib.sha256)

    def sign(self, data: bytes) -> str:
        """Returns the signature as 64 hexadecimal digits."""
        return hmac.new(self._secret, data, hashlib.sha256).hexdigest()

    def verifies(self, data: bytes, signature: str) -> bool:
        """Whether `signature` is sign(data). The comparison takes constant time."""
        return hmac.compare_digest(self.sign(data).encode(), signature.encode())
