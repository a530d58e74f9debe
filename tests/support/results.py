"""Digests of tests' HPU results, to compare two runs or backends bit for bit."""

from __future__ import annotations

import hashlib
import json
import pathlib
from typing import Any

# Digest of the current test. Tests run one after another.
_current = hashlib.sha256()
_noted = 0


def begin() -> None:
    """Starts the digest of a test."""
    global _current, _noted
    _current, _noted = hashlib.sha256(), 0


def note(value: Any) -> None:
    """Adds a nested structure of tensors to the current test's digest."""
    import tensorflow as tf

    global _noted
    for tensor in tf.nest.flatten(value, expand_composites=True):
        array = tf.convert_to_tensor(tensor).numpy()
        _current.update(f"{array.dtype} {array.shape}".encode())
        _current.update(array.tobytes())
        _noted += 1


def end() -> str:
    """Returns the test's digest; empty if the test added no tensors."""
    return _current.hexdigest() if _noted else ""


class Digests:
    """Digests of one run by test, and the expected digests."""

    def __init__(self, expected: dict[str, str] | None = None) -> None:
        self._expected = expected or {}
        self._found: dict[str, str] = {}

    @classmethod
    def read(cls, path: str) -> Digests:
        return cls(json.loads(pathlib.Path(path).read_text()))

    def write(self, path: str) -> None:
        pathlib.Path(path).write_text(json.dumps(self._found, indent=1, sort_keys=True))

    def take(self, test: str, digest: str) -> None:
        if digest:
            self._found[test] = digest

    def as_expected(self, test: str) -> bool:
        """Whether the test's digest equals the expected digest. A test without an expected digest passes."""
        return self._expected.get(test, self._found.get(test)) == self._found.get(test)
