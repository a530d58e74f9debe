"""Search for the shared libraries of PJRT plugins (HPU_BACKEND=pjrt:…). Loads no plugin."""

from __future__ import annotations

import ctypes
import dataclasses
import importlib.metadata
import importlib.util
import os
import pathlib
import re

_SCHEME = "pjrt:"
_DEVICES = pathlib.Path("/dev")
VISIBLE_CARDS = "CUDA_VISIBLE_DEVICES"


@dataclasses.dataclass(frozen=True)
class Package:
    """A Python package with a plugin."""

    distribution: str
    file: str
    """The plugin's path in a folder of Python packages."""


# Packages by the name in HPU_BACKEND, in the order of preference. plugin/backends/pjrt/plugin_file.cc has the same
# table and searches the same folders.
PACKAGES = {
    "cpu": (
        Package("lammps-jax-pjrt-cpu", "lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so"),
        Package("xla-cpu-pjrt", "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so"),
    ),
    "cuda": (
        Package("jax-cuda13-pjrt", "jax_plugins/xla_cuda13/xla_cuda_plugin.so"),
        Package("jax-cuda12-pjrt", "jax_plugins/xla_cuda12/xla_cuda_plugin.so"),
    ),
}


@dataclasses.dataclass(frozen=True)
class PluginFile:
    """A plugin's shared library. `package` and `version` are None if no known package holds it."""

    path: pathlib.Path
    package: str | None = None
    version: str | None = None

    @property
    def is_for_nvidia(self) -> bool:
        """Whether the plugin drives NVIDIA cards, by its name."""
        return "cuda" in self._name

    @property
    def cuda(self) -> int | None:
        """Major version of CUDA in the plugin's name, for which the plugin is built; None if the name has none."""
        match = re.search(r"cuda(\d+)", self._name)
        return int(match[1]) if match else None

    @property
    def _name(self) -> str:
        return "/".join(self.path.parts[-2:])


def selected(backend: str) -> str | None:
    """Returns the name or path after `pjrt:`; None for other backends.

    `auto` selects "cuda" by the same rule as plugin/backends/pjrt/cuda_cards.cc: a card's device file, the plugin and
    the driver's library must exist, and CUDA_VISIBLE_DEVICES must not hide all cards.
    """
    if backend == "auto":
        return "cuda" if _has_visible_card() and find("cuda") and _has_driver() else None
    return backend[len(_SCHEME) :] if backend.startswith(_SCHEME) else None


def folders() -> list[pathlib.Path]:
    """Folders to search for plugins: the entries of PYTHONPATH, then the folder that contains TensorFlow."""
    found = [pathlib.Path(folder) for folder in os.environ.get("PYTHONPATH", "").split(":") if folder]
    tensorflow = importlib.util.find_spec("tensorflow")
    for location in tensorflow.submodule_search_locations or () if tensorflow else ():
        found.append(pathlib.Path(location).resolve().parent)
    return list(dict.fromkeys(found))


def find(name: str) -> PluginFile | None:
    """Returns the plugin that `name` selects: a path, or a key of PACKAGES. None if the file does not exist."""
    if "/" in name:
        path = pathlib.Path(name)
        return _from_path(path) if path.exists() else None
    searched = folders()
    for package in PACKAGES.get(name, ()):
        for folder in searched:
            path = folder / package.file
            if path.exists():
                return _from_package(path, folder, package)
    return None


def drives_nvidia_cards(name: str) -> bool:
    """Whether `name` selects a plugin for NVIDIA cards. The plugin need not be installed."""
    return PluginFile(pathlib.Path(name)).is_for_nvidia


def card_files(devices: pathlib.Path) -> list[pathlib.Path]:
    """Returns the device files of NVIDIA cards in `devices`, which is /dev outside tests."""
    return sorted(path for path in devices.glob("nvidia*") if path.name.removeprefix("nvidia").isdecimal())


def hides_all_cards(visible: str, count: int | None) -> bool:
    """Whether CUDA_VISIBLE_DEVICES=visible hides all of `count` cards; None: the number is unknown.

    CUDA ignores the first entry that is not a card, and all entries after it.
    """
    first = visible.split(",")[0].strip()
    return not (first.startswith(("GPU-", "MIG-")) or (first.isdecimal() and (count is None or int(first) < count)))


def _has_visible_card() -> bool:
    # Windows Subsystem for Linux exposes all cards as one device file, /dev/dxg.
    count = len(card_files(_DEVICES)) or int((_DEVICES / "dxg").exists())
    visible = os.environ.get(VISIBLE_CARDS)
    return count > 0 and not (visible is not None and hides_all_cards(visible, count))


def _has_driver() -> bool:
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


def _from_path(path: pathlib.Path) -> PluginFile:
    whole = str(path.resolve())
    for package in (package for packages in PACKAGES.values() for package in packages):
        if whole.endswith(f"/{package.file}"):
            return _from_package(path, pathlib.Path(whole.removesuffix(package.file)), package)
    return PluginFile(path)


def _from_package(path: pathlib.Path, folder: pathlib.Path, package: Package) -> PluginFile:
    found = importlib.metadata.Distribution.discover(name=package.distribution, path=[str(folder)])
    return PluginFile(path, package.distribution, next((each.version for each in found), None))
