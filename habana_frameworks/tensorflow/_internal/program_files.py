"""Which source files belong to the user's program."""

from __future__ import annotations

import functools
import pathlib
import sysconfig

PACKAGE = pathlib.Path(__file__).resolve().parents[1]
# AutoGraph writes converted code to temporary files, and removes them when the process ends.
_CONVERTED = "__autograph_generated_file"
_LIBRARIES = tuple(sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib"))


@functools.cache
def is_of_program(filename: str) -> bool:
    """Whether a file is the user's: not of this package, of an installed or the standard library, or AutoGraph's."""
    if not filename or filename.startswith("<") or _CONVERTED in filename:
        return False
    path = pathlib.Path(filename).resolve()
    return "site-packages" not in path.parts and not any(
        path.is_relative_to(folder) for folder in (str(PACKAGE), *_LIBRARIES)
    )
