"""Files of the build folders in the tree."""

from __future__ import annotations

import pathlib

_ROOT = pathlib.Path(__file__).resolve().parents[2]
# Python cannot load the libraries of these builds.
_SANITIZERS = frozenset({"build-asan", "build-fuzz", "build-tsan", "build-ubsan"})


def newest(pattern: str) -> pathlib.Path | None:
    """Returns the newest file that matches the pattern in a build folder; None if there is none."""
    folders = (folder for folder in _ROOT.glob("build*") if folder.name not in _SANITIZERS)
    found = (file for folder in folders for file in folder.glob(pattern))
    return max(found, key=lambda file: file.stat().st_mtime, default=None)
