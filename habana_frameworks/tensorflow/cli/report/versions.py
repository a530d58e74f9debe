"""Versions of all software that takes part in a run, and a short description of the machine."""

from __future__ import annotations

import importlib.metadata
import os
import pathlib
import platform
from collections.abc import Iterator

from habana_frameworks.tensorflow import habana_device, lib_utils, version_getter
from habana_frameworks.tensorflow._internal.version import __version__

# Packages whose version affects a program's values or speed.
_PACKAGES = ("keras", "numpy", "protobuf", "horovod", "grpcio")


def collect() -> dict[str, str]:
    """Returns the versions by name, in the order of their importance. The plugin must be loaded."""
    return dict(_versions())


def _versions() -> Iterator[tuple[str, str]]:
    yield "hpu-tensorflow", __version__
    yield "plugin", version_getter.get_library_version()
    device = habana_device.info()
    yield "backend", str(device.get("backend", "unknown"))
    yield "device", str(device.get("description", "not acquired"))
    yield from lib_utils.installed_tensorflow().items()
    yield "Python", platform.python_version()
    for name in _PACKAGES:
        try:
            yield name, importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    yield "system", f"{platform.system()} {platform.release()} ({' '.join(platform.libc_ver())})"
    yield "processor", f"{_processor()}, {len(os.sched_getaffinity(0))} cores for this process"


def _processor() -> str:
    """Returns the model name of the first processor; the architecture if unknown."""
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text(errors="replace").splitlines()
    except OSError:
        lines = []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())
