"""Names of the backends that HPU_BACKEND may select."""

from __future__ import annotations

import difflib

from habana_frameworks.tensorflow import device_channel

NAMES = ("auto", "emulator", "null", "gaudi", "pjrt")


def problem(backend: str) -> str:
    """Returns what is wrong with a value of HPU_BACKEND that names no backend; empty if it names one.

    Does not check what follows a name, such as a plugin's path.
    """
    name = backend.partition(":")[0]
    if name in NAMES or device_channel.is_address(backend):
        return ""
    nearest = difflib.get_close_matches(name, NAMES, n=1)
    hint = f"; did you mean {nearest[0]}?" if nearest else ""
    known = ", ".join((*NAMES, "the address of a device server"))
    return f"HPU_BACKEND={backend} is not a backend: set it to one of {known}{hint}"
