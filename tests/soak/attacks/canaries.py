"""Canaries: secret bytes in each client's device memory, which reveal leaks between clients."""

from __future__ import annotations

import dataclasses
import os
import re

_MAGIC_BYTES = 8
_KEY_BYTES = 8


@dataclasses.dataclass(frozen=True)
class Canaries:
    """A canary consists of the campaign's magic number and its owner's key. Owners are numbers."""

    magic: bytes
    keys: tuple[bytes, ...]

    @staticmethod
    def create(count: int) -> Canaries:
        return Canaries(os.urandom(_MAGIC_BYTES), tuple(os.urandom(_KEY_BYTES) for _ in range(count)))

    def canary(self, owner: int) -> bytes:
        """Returns the owner's canary, 16 bytes."""
        return self.magic + self.keys[owner]

    def leak(self, data: bytes, owner: int) -> int | None:
        """Returns an owner other than `owner` whose canary is in the data, or None."""
        rest = data.replace(self.canary(owner), b"")
        if self.magic not in rest:
            return None
        # The owner's program may have split its own canary.
        for found in re.finditer(re.escape(self.magic), data):
            key = data[found.end() : found.end() + _KEY_BYTES]
            if key != self.keys[owner] and key in self.keys:
                return self.keys.index(key)
        return None
