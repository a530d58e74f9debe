"""What tests compute on the HPU, so that two runs, on two backends, can be compared bit for bit."""

from __future__ import annotations

import hashlib
import json
import pathlib
from typing import Any

# Of the test that runs now; tests run one after another.
_current = hashlib.sha256()
_noted = 0


def begin() -> None:
    """A test begins."""
    global _current, _noted
    _current, _noted = hashlib.sha256(), 0


def note(value: Any) -> None:
    """Adds a nested structure of tensors to what the current test computed."""
    import tensorflow as tf

    global _noted
    for tensor in tf.nest.flatten(value, expand_composites=True):
        array = tf.convert_to_tensor(tensor).numpy()
        _current.update(f"{array.dtype} {array.shape}".encode())
        _current.update(array.tobytes())
        _noted += 1


def end() -> str:
    """The digest of what the test noted; empty if that is nothing."""
    return _current.hexdigest() if _noted else ""


class Digests:
    """Those of one run, by test, and those that it is compared with."""

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
        """Whether the test's results are what is expected; of a test that is not known anything is."""
        return self._expected.get(test, self._found.get(test)) == self._found.get(test)
