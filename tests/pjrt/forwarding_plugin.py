"""A PJRT plugin that forwards to the CPU plugin, fails chosen launches and reports chosen memory statistics.

Its source is plugin/testing/forwarding_pjrt.cc, which the C++ tests use too.
"""

from __future__ import annotations

import ctypes
import os
import pathlib
import shutil
import subprocess

import pytest

from tests.pjrt.cpu_plugins import LAMMPS, XLA
from tests.support.processes import ROOT

MIB = 1 << 20
_HEADERS = XLA.parent / "include"
with_forwarding_plugin = pytest.mark.skipif(
    shutil.which("c++") is None or not LAMMPS.exists() or not _HEADERS.exists(),
    reason="needs c++ and the CPU plugins of `make test`",
)


def build(directory: pathlib.Path) -> pathlib.Path:
    """Compiles the plugin; returns its path, which HPU_BACKEND=pjrt:PATH takes."""
    path = directory / "forwarding_cpu_plugin.so"
    subprocess.run(
        [
            *("c++", "-std=c++17", "-O0", "-shared", "-fPIC", "-I", str(ROOT), "-I", str(_HEADERS)),
            *(f'-DHPU_FORWARDED_PLUGIN="{LAMMPS}"', str(ROOT / "plugin" / "testing" / "forwarding_pjrt.cc")),
            *("-o", str(path), "-ldl"),
        ],
        check=True,
    )
    return path


class ForwardingPlugin:
    """The functions that control the plugin at `path` in this process."""

    def __init__(self, path: str) -> None:
        self._library = ctypes.CDLL(path)

    @classmethod
    def of_backend(cls) -> ForwardingPlugin:
        """Returns the plugin that HPU_BACKEND names."""
        return cls(os.environ["HPU_BACKEND"].removeprefix("pjrt:"))

    def fail_launch(self, successes: int = 0, consumes: bool = True) -> None:
        """Makes the launch after `successes` launches fail. consumes: its donated arguments are lost."""
        self._library.FailLaunch(successes, int(consumes))

    def set_memory(self, *figures: int) -> None:
        """Sets in_use, peak, limit, largest_free_block, pool, allocations; -1: not reported."""
        self._library.SetMemoryStats(*(ctypes.c_int64(figure) for figure in figures))
