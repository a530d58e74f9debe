"""Check of the machine: emulated modules and their holders, locked and shared memory, C++ compiler."""

from __future__ import annotations

import os
import pathlib
import resource
import shutil
from collections.abc import Iterator

from habana_frameworks.tensorflow import flags, modules
from habana_frameworks.tensorflow._internal import cards
from habana_frameworks.tensorflow.cli.checks.finding import Finding, Level

_SHARED_MEMORY = pathlib.Path("/dev/shm")
_MIN_SHARED_BYTES = 1 << 30


def check() -> Iterator[Finding]:
    """Runs the checks. Acquires no module."""
    if flags.backend() in ("auto", "emulator"):
        yield _check_modules()
    yield _check_locked_memory()
    yield _check_shared_memory()
    compiler = shutil.which("g++")
    if compiler:
        yield Finding("C++ compiler", Level.OK, compiler)
    else:
        yield Finding("C++ compiler", Level.NOTE, "g++ not found; needed only to build custom ops or this package")


def _check_modules() -> Finding:
    held = modules.holders()
    count = cards.modules()
    listed = "; ".join(f"module {holder.module}: {holder}" for holder in held)
    data = {"modules": count, "held": [{"module": holder.module, "pid": holder.pid} for holder in held]}
    if len(held) >= count:
        remedy = "end one of these processes, or raise HPU_MODULES"
        return Finding("modules", Level.ERROR, f"all {count} are held: {listed}", remedy, data)
    text = f"{count - len(held)} of {count} are free"
    return Finding("modules", Level.OK, f"{text}; {listed}" if listed else text, data=data)


def _check_locked_memory() -> Finding:
    soft, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    text = "unlimited" if soft == resource.RLIM_INFINITY else f"{soft >> 10} KiB"
    if soft == resource.RLIM_INFINITY or soft >= 1 << 30:
        return Finding("locked memory", Level.OK, text, data={"bytes": soft})
    note = f"{text}; a card needs more for its host buffers, the emulator does not"
    return Finding("locked memory", Level.NOTE, note, "ulimit -l unlimited, before using a card", {"bytes": soft})


def _check_shared_memory() -> Finding:
    if not _SHARED_MEMORY.is_dir():
        return Finding("shared memory", Level.NOTE, f"{_SHARED_MEMORY} does not exist")
    usage = os.statvfs(_SHARED_MEMORY)
    free = usage.f_bavail * usage.f_frsize
    text = f"{free >> 20} MiB free in {_SHARED_MEMORY}"
    if free >= _MIN_SHARED_BYTES:
        return Finding("shared memory", Level.OK, text, data={"bytes": free})
    return Finding(
        "shared memory",
        Level.NOTE,
        f"{text}, which may be too little for data loaders",
        "docker run --shm-size=8g",
        {"bytes": free},
    )
