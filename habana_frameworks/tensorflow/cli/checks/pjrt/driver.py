"""Check of the NVIDIA driver: kernel module, library, and minimum version for the plugin's CUDA."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Iterator

from habana_frameworks.tensorflow import lib_utils
from habana_frameworks.tensorflow.cli.checks.finding import Finding, Level
from habana_frameworks.tensorflow.cli.checks.pjrt import probing

_VERSION_FILE = pathlib.Path("/proc/driver/nvidia/version")
# Oldest driver for each major version of CUDA.
_MIN_DRIVERS = {12: 525, 13: 580}
_CONTAINER = "`docker run --gpus all` (NVIDIA Container Toolkit)"


def module_version() -> str | None:
    """Returns the version of the driver's kernel module; None if it is not loaded."""
    try:
        text = _VERSION_FILE.read_text()
    except OSError:
        return None
    # "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build …"
    match = re.search(r"Kernel Module(?: for \S+)?\s+(\d+(?:\.\d+)+)", text)
    return match[1] if match else "unknown"


def check(cuda: int | None) -> Iterator[Finding]:
    """Checks the driver. `cuda`: major version of CUDA that the plugin is built for, None if unknown."""
    module = module_version()
    report, problem = probing.run("driver")
    oldest = _MIN_DRIVERS.get(cuda or 0, min(_MIN_DRIVERS.values()))
    if problem:
        yield _without_library(module, problem, oldest)
        return
    # 13020 is CUDA 13.2.
    supported = (report["cuda"] // 1000, report["cuda"] % 1000 // 10)
    text = "{}, supports CUDA {}.{}".format(module or "no kernel module", *supported)
    data = {"version": module, "cuda": "{}.{}".format(*supported)}
    if cuda is not None and supported[0] < cuda:
        remedy = f"install driver {oldest} or later"
        if (older := _plugin_for(supported[0])) is not None:
            remedy += (
                f", or replace the plugin: pip uninstall jax-cuda{cuda}-pjrt, then "
                f"{lib_utils.install_command(f'cuda{older}')}"
            )
        text = f"{text}; the plugin is built for CUDA {cuda}, which needs driver {oldest} or later"
        yield Finding("NVIDIA driver", Level.ERROR, text, remedy, data)
        return
    if module is None:
        text = f"the kernel module is not loaded: there is no {_VERSION_FILE}; libcuda.so.1 can be loaded"
        remedy = "load the module (modprobe nvidia), or install the driver again after an update of the kernel"
        yield Finding("NVIDIA driver", Level.WARNING, text, remedy, data)
        return
    yield Finding("NVIDIA driver", Level.OK, text, data=data)


def _without_library(module: str | None, problem: str, oldest: int) -> Finding:
    if module is None:
        text = f"not found: there is no {_VERSION_FILE}, and {problem}"
        remedy = f"install NVIDIA's driver, version {oldest} or later; in a container also {_CONTAINER}"
        return Finding("NVIDIA driver", Level.ERROR, text, remedy)
    text = f"the kernel module is loaded (version {module}), but {problem}"
    remedy = f"in a container {_CONTAINER}; elsewhere install the libraries of driver {module}"
    return Finding("NVIDIA driver", Level.ERROR, text, remedy, {"version": module})


def _plugin_for(cuda: int) -> int | None:
    """Returns the newest CUDA version for which a plugin exists and which a driver for `cuda` supports."""
    return max((version for version in _MIN_DRIVERS if version <= cuda), default=None)
