"""Probe process of the PJRT checks: loads a library and prints its version as a JSON object.

python libraries_probe.py plugin PATH     # {"major": …, "minor": …} of the plugin's PJRT C API, or {"error": …}
python libraries_probe.py driver          # {"cuda": …} as cuDriverGetVersion encodes it, or {"error": …}
python libraries_probe.py load NAME…      # {"missing": […]}: libraries that the loader does not find

Runs in a process of its own, which imports nothing of this package.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from collections.abc import Sequence
from typing import Any


class _Version(ctypes.Structure):
    """ctypes declaration of PJRT_Api_Version."""

    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.c_void_p),
        ("major_version", ctypes.c_int),
        ("minor_version", ctypes.c_int),
    )


class _Api(ctypes.Structure):
    """ctypes declaration of the first fields of PJRT_Api, which are the same in all versions."""

    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.c_void_p),
        ("version", _Version),
    )


def _plugin(path: str) -> dict[str, Any]:
    try:
        get_api = ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_LOCAL).GetPjrtApi
    except OSError as error:
        return {"error": f"the plugin cannot be loaded: {error}"}
    except AttributeError:
        return {"error": "not a PJRT plugin: the library does not export GetPjrtApi"}
    get_api.restype = ctypes.POINTER(_Api)
    api = get_api()
    if not api:
        return {"error": "GetPjrtApi returned no function table"}
    version = api.contents.version
    return {"major": version.major_version, "minor": version.minor_version}


def _driver() -> dict[str, Any]:
    version = ctypes.c_int()
    try:
        code = ctypes.CDLL("libcuda.so.1").cuDriverGetVersion(ctypes.byref(version))
    except (OSError, AttributeError) as error:
        return {"error": f"libcuda.so.1 cannot be loaded: {error}"}
    return (
        {"error": f"cuDriverGetVersion of libcuda.so.1 failed with error {code}"} if code else {"cuda": version.value}
    )


def _load(names: Sequence[str]) -> dict[str, Any]:
    missing = []
    for name in names:
        try:
            ctypes.CDLL(name)
        except OSError:
            missing.append(name)
    return {"missing": missing}


def main(action: str, *arguments: str) -> None:
    if action == "plugin":
        report = _plugin(*arguments)
    elif action == "driver":
        report = _driver()
    else:
        report = _load(arguments)
    # The library may have written to stdout without ending the line.
    print(f"\n{json.dumps(report)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
