"""How much memory this process and its HPU use, for the tests that watch it."""

from __future__ import annotations

import gc
import pathlib
import resource

from habana_frameworks.tensorflow import habana_device

MOST_GROWTH = 20 << 20  # bytes of resident memory


def resident_bytes() -> int:
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def in_use() -> int:
    """Bytes of device memory, once all work is done and what nobody holds is freed."""
    habana_device.synchronize()
    gc.collect()
    return habana_device.memory_info().in_use
