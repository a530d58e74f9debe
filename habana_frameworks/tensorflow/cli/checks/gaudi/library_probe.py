"""Loads the SynapseAI library of the first argument; prints its release and number of cards as JSON."""

from __future__ import annotations

import ctypes
import json
import sys

_TEXT_BYTES = 256


def probe(path: str) -> dict[str, object]:
    """Returns the report, or an "error"."""
    try:
        library = ctypes.CDLL(path)
        text = ctypes.create_string_buffer(_TEXT_BYTES)
        status = library.synDriverGetVersion(text, _TEXT_BYTES - 1)
        if status != 0:
            return {"error": f"synDriverGetVersion failed with status {status}"}
        devices = ctypes.c_uint32(0)
        status = library.synInitialize()
        if status == 0:
            status = library.synDeviceGetCount(ctypes.byref(devices))
            library.synDestroy()
    except (OSError, AttributeError) as error:
        return {"error": str(error)}
    return {"version": text.value.decode(errors="replace"), "status": status, "devices": devices.value}


if __name__ == "__main__":
    print(json.dumps(probe(sys.argv[1])))
