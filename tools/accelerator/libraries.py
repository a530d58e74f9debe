"""Shared libraries that the kit's programs need, stripped copies, and the required glibc version."""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence

# Libraries of glibc. The target machine has its own glibc, and two versions cannot be mixed in one process.
_C_LIBRARY = re.compile(
    r"(linux-vdso|ld-linux.*|libc|libm|libdl|libpthread|librt|libutil|libresolv|libnsl|libanl|libBrokenLocale)\.so\b.*"
)
_RESOLVED = re.compile(r"^\s*(\S+) => (\S+) \(", re.MULTILINE)
_MISSING = re.compile(r"^\s*(\S+) => not found", re.MULTILINE)
_GLIBC = re.compile(r"\bGLIBC_(\d+(?:\.\d+)+)")


class LibraryError(Exception):
    """A library that a program needs is not installed."""


def is_elf(path: pathlib.Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def needed(programs: Sequence[pathlib.Path], packed: Sequence[pathlib.Path]) -> dict[str, pathlib.Path]:
    """Returns the shared libraries that `programs` need, by soname. Omits glibc and libraries below `packed`.

    Raises LibraryError if a library is missing.
    """
    found: dict[str, pathlib.Path] = {}
    names = {program.name for program in programs}
    folders = [str(folder) for folder in packed] + [os.environ.get("LD_LIBRARY_PATH", "")]
    environment = {**os.environ, "LD_LIBRARY_PATH": ":".join(filter(None, folders))}
    for program in programs:
        command = ["ldd", str(program)]
        text = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False).stdout
        # ldd reports a wheel's own libraries as missing, because the wheel loads them itself at run time.
        if missing := [name for name in _MISSING.findall(text) if name not in names]:
            raise LibraryError(f"{program} needs {', '.join(missing)}, which this machine lacks: install the packages")
        for name, path in _RESOLVED.findall(text):
            if not _C_LIBRARY.fullmatch(name) and not any(_is_below(path, folder) for folder in packed):
                found[name] = pathlib.Path(path).resolve()
    return found


def _is_below(path: str, folder: pathlib.Path) -> bool:
    return pathlib.Path(path).resolve().is_relative_to(folder.resolve())


def glibc_of(paths: Iterable[pathlib.Path]) -> str:
    """Returns the oldest glibc version with all glibc symbols that the files use."""
    versions: set[tuple[int, ...]] = {(2, 17)}
    for path in paths:
        command = ["objdump", "-T", str(path)]
        text = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout
        versions.update(tuple(map(int, version.split("."))) for version in _GLIBC.findall(text))
    return ".".join(map(str, max(versions)))


def stripped(path: pathlib.Path, target: pathlib.Path) -> pathlib.Path:
    """Copies a program or library to `target` without debug symbols, and returns `target`."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, target)
    subprocess.run(["strip", "--strip-unneeded", str(target)], check=True)
    return target
