"""Signatures of recipes. A server loads only recipes that a server with the same key has signed."""

from __future__ import annotations

import hashlib
import hmac
import secrets

from habana_frameworks.tensorflow._internal.serve.status import Code, StatusError
from habana_frameworks.tensorflow._internal.version import REPORT_BUG

KEY_BYTES = 32
_DIGEST_BYTES = hashlib.sha256().digest_size
_KEY_ID_DIGITS = 16


class RecipeSeal:
    """Signs and verifies recipe digests with HMAC-SHA256."""

    def __init__(self, key: bytes) -> None:
        """key: at least KEY_BYTES bytes, or empty for a random key. Raises StatusError for a shorter key."""
        if key and len(key) < KEY_BYTES:
            raise StatusError(
                Code.INVALID_ARGUMENT,
                f"the recipe key (hpu serve --key) has {len(key)} bytes, but needs at least {KEY_BYTES}: pass a longer "
                "key",
            )
        key = key or secrets.token_bytes(KEY_BYTES)
        self._mac_key = _mac(key, b"recipes")
        self.key_id = _mac(key, b"id of the key").hex()[:_KEY_ID_DIGITS]

    def seal(self, digest: bytes) -> bytes:
        """Signs the SHA-256 of a recipe."""
        if len(digest) != _DIGEST_BYTES:
            raise StatusError(
                Code.INVALID_ARGUMENT,
                f"a recipe's digest has {len(digest)} bytes, expected {_DIGEST_BYTES}; {REPORT_BUG}",
            )
        return _mac(self._mac_key, digest)

    def check(self, digest: bytes, seal: bytes) -> None:
        """Raises StatusError for a recipe that this key did not sign."""
        if not hmac.compare_digest(seal, self.seal(digest)):
            raise StatusError(
                Code.PERMISSION_DENIED,
                "the recipe is not signed with this server's key (hpu serve --key): another server compiled the "
                "recipe, or the recipe was modified",
            )


def _mac(key: bytes, data: bytes) -> bytes:
    return hmac.new(key, data, hashlib.sha256).digest()
