"""Fake machine with NVIDIA cards: driver, device files, NVML, plugin, CUDA libraries."""

from __future__ import annotations

import dataclasses
import functools
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
from typing import Any

import pytest

from habana_frameworks.tensorflow._internal import pjrt_plugins
from habana_frameworks.tensorflow.cli.checks.pjrt import device_files, driver, libraries

FAKES = pathlib.Path(__file__).parent / "fakes"
GIB = 1 << 30
H100 = {
    "name": "NVIDIA H100 80GB HBM3",
    "memory": [2 * GIB, 80 * GIB],
    "gpu": 87,
    "celsius": 61,
    "milliwatts": 412300,
    "limit": 700000,
    "processes": [],
}
with_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="needs cc to compile fake libraries")


@functools.cache
def compiled(source: str, *options: str) -> bytes:
    """Compiles a file of `fakes` and returns the contents of the shared library."""
    with tempfile.NamedTemporaryFile(suffix=".so") as library:
        subprocess.run(["cc", "-shared", "-fPIC", *options, str(FAKES / source), "-o", library.name], check=True)
        return pathlib.Path(library.name).read_bytes()


class Machine:
    """A healthy machine with one H100, which its methods can break. `backend` is its plugin's HPU_BACKEND."""

    def __init__(self, root: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._root = root
        self._patch = monkeypatch
        self.plugin = root / "packages" / "jax_plugins" / "xla_cuda13" / "xla_cuda_plugin.so"
        monkeypatch.setattr(driver, "_VERSION_FILE", root / "version")
        monkeypatch.setattr(device_files, "_DEVICES", root / "dev")
        monkeypatch.setenv("LD_LIBRARY_PATH", str(root / "lib"))
        monkeypatch.setattr(pjrt_plugins, "folders", lambda: [root / "packages"])
        # Renamed, so that libraries of the host machine are not found.
        needed = tuple(dataclasses.replace(each, name=f"{each.name}-fake") for each in libraries._LIBRARIES[13])
        monkeypatch.setattr(libraries, "_LIBRARIES", {13: needed})
        monkeypatch.setenv("HPU_BACKEND", "pjrt:cuda")
        for name in ("CUDA_VISIBLE_DEVICES", "HPU_PJRT_OPTIONS", "HPU_PJRT_TARGET"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.syspath_prepend(str(FAKES))
        monkeypatch.delitem(sys.modules, "pynvml", raising=False)
        self.set_driver("580.65.06", 13000)
        self.set_cards(H100)
        self.set_plugin("-DMINOR=115")
        for name in ("nvidia0", "nvidiactl", "nvidia-uvm"):
            self.path("dev", name).touch()
        for library in needed:
            self.path("packages", "nvidia", library.folder, "lib", library.name).touch()
        metadata = self.path("packages", "jax_cuda13_pjrt-0.11.2.dist-info", "METADATA")
        metadata.write_text("Metadata-Version: 2.1\nName: jax-cuda13-pjrt\nVersion: 0.11.2\n")

    def path(self, *parts: str) -> pathlib.Path:
        """Returns a path on the fake machine. Creates the parent folder."""
        path = self._root.joinpath(*parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def set_driver(self, version: str, cuda: int, *options: str) -> None:
        text = f"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  {version}  Release Build  (root@host)\n"
        self.path("version").write_text(text)
        self.path("lib", "libcuda.so.1").write_bytes(compiled("cuda.c", f"-DVERSION={cuda}", *options))

    def break_driver_library(self) -> None:
        # An invalid libcuda.so.1 stops the loader from finding the host machine's driver.
        self.path("lib", "libcuda.so.1").write_bytes(b"nonsense")

    def set_plugin(self, *options: str) -> None:
        self.path(*self.plugin.relative_to(self._root).parts).write_bytes(compiled("pjrt_plugin.c", *options))

    def set_cards(self, *cards: dict[str, Any], error: int = 0) -> None:
        self._patch.setenv("FAKE_NVML", json.dumps({"driver": "580.65.06", "cards": cards, "error": error}))
