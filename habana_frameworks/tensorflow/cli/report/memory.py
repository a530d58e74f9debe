"""Samples the memory of the device and of the process."""

from __future__ import annotations

import os
import pathlib
import threading
import time

from habana_frameworks.tensorflow import habana_device
from habana_frameworks.tensorflow.cli.report.model import Memory, MemorySample

_STATM = pathlib.Path("/proc/self/statm")
_MAX_SAMPLES = 1000


class MemorySampler:
    """Takes samples on a thread of its own from start() to stop(). Long runs have fewer samples per second."""

    def __init__(self, interval: float = 0.05) -> None:
        self._interval = interval
        self._samples: list[MemorySample] = []
        self._begin = 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="hpu-report", daemon=True)

    def start(self) -> None:
        """Takes the first sample and starts the thread. Resets the device's peak."""
        habana_device.reset_peak_memory()
        self._begin = time.monotonic()
        self._sample()
        self._thread.start()

    def stop(self) -> Memory:
        """Ends the thread, takes the last sample and returns all samples."""
        self._ended.set()
        self._thread.join()
        self._sample()
        info = habana_device.memory_info()
        return Memory(tuple(self._samples), self._interval, info.peak, info.limit, info.workspace)

    def _run(self) -> None:
        while not self._ended.wait(self._interval):
            self._sample()
            if len(self._samples) >= _MAX_SAMPLES:
                self._samples = self._samples[::2]
                self._interval *= 2

    def _sample(self) -> None:
        seconds = time.monotonic() - self._begin
        self._samples.append(MemorySample(seconds, habana_device.memory_info().in_use, _resident()))


def _resident() -> int | None:
    """Returns the resident memory of this process in bytes; None without /proc."""
    try:
        return int(_STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return None
