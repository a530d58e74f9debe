"""Which source files belong to the user's program."""

from __future__ import annotations

import functools
import pathlib
import sysconfig

PACKAGE = pathlib.Path(__file__).resolve().parents[1]
_LIBRARIES = tuple(sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib"))


@functools.cache
def is_of_program(filename: str) -> bool:
    """Whether a file is the user's: not of this package, of an installed library or of the standard library."""
    if not filename or filename.startswith("<"):
        return False
    path = pathlib.Path(filename).resolve()
    return "site-packages" not in path.parts and not any(
        path.is_relative_to(folder) for folder in (str(PACKAGE), *_LIBRARIES)
    )
