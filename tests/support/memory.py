"""Memory use of this process and its HPU."""

from __future__ import annotations

import gc
import pathlib
import resource

from habana_frameworks.tensorflow import habana_device

MOST_GROWTH = 20 << 20  # accepted growth of resident memory in bytes


def resident_bytes() -> int:
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def in_use() -> int:
    """Returns the used device memory in bytes, after all work has ended and unreferenced tensors are freed."""
    habana_device.synchronize()
    gc.collect()
    return habana_device.memory_info().in_use
