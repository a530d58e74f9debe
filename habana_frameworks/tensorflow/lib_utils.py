"""Locations of the plugin's files. This module neither imports TensorFlow nor loads a library."""

from __future__ import annotations

import importlib.metadata
import pathlib
import sys

from habana_frameworks.tensorflow.errors import PluginNotFoundError, TensorFlowError

PLUGIN = "habana_device"
_PACKAGE = pathlib.Path(__file__).resolve().parent
_FLAVOURS = ("tensorflow", "tensorflow-cpu", "tensorflow-intel", "tensorflow-cpu-aws", "intel-tensorflow", "tf-nightly")


def package_directory() -> str:
    """Directory of the package habana_frameworks.tensorflow."""
    return str(_PACKAGE)


def search_paths() -> list[pathlib.Path]:
    """Directories that may contain the plugin, in order of preference.

    habana_frameworks is a namespace package. In a source tree Python imports the tree's files, but the built plugin may
    be in another portion of the namespace.
    """
    portions = list(getattr(sys.modules.get("habana_frameworks"), "__path__", []))
    packages = [_PACKAGE, *(pathlib.Path(portion).resolve() / "tensorflow" for portion in portions)]
    packages += [pathlib.Path(entry).resolve() / "habana_frameworks" / "tensorflow" for entry in sys.path]
    return [package / "lib" for package in dict.fromkeys(packages) if package == _PACKAGE or package.is_dir()]


def built_for() -> dict[str, pathlib.Path]:
    """Maps each TensorFlow version to the plugin file built for it."""
    found: dict[str, pathlib.Path] = {}
    for directory in search_paths():
        for path in sorted(directory.glob(f"{PLUGIN}.so.*")):
            found.setdefault(path.name[len(f"{PLUGIN}.so.") :], path)
    return found


def installed_tensorflow() -> dict[str, str]:
    """Installed distributions that provide TensorFlow, with their versions."""
    found = {}
    for name in _FLAVOURS:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def mandatory_libraries(tensorflow_version: str) -> list[pathlib.Path]:
    """Libraries to load for this version of TensorFlow.

    Raises PluginNotFoundError if no plugin is found, TensorFlowError if none is built for this version.
    """
    found = built_for()
    if not found:
        searched = ", ".join(map(str, search_paths()))
        raise PluginNotFoundError(
            f"Cannot find Habana modules: no {PLUGIN}.so.{tensorflow_version} in {searched}. In a source tree run "
            "`make build`; otherwise reinstall the package (pip install hpu-tensorflow). "
            "Run `hpu doctor` to check the setup."
        )
    if tensorflow_version not in found:
        versions = ", ".join(sorted(found))
        raise TensorFlowError(
            f"TensorFlow {tensorflow_version} is installed, but this build of hpu-tensorflow is for {versions}. "
            f"Install a supported version (pip install tensorflow-cpu=={sorted(found)[-1]}), or rebuild "
            "hpu-tensorflow for the installed TensorFlow."
        )
    return [found[tensorflow_version]]


def _libraries_location() -> str:
    directories = [path.parent for path in built_for().values()]
    return str(directories[0] if directories else search_paths()[0])


def get_includes_location() -> str:
    """Directory of the C++ headers for custom ops."""
    return str(_PACKAGE / "include")


def __getattr__(name: str) -> str:
    """Computes `libraries_location` on access, because a build may finish after the import."""
    if name == "libraries_location":
        return _libraries_location()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
