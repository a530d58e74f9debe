"""Locations of the plugin's files, and install commands. This module neither imports TensorFlow nor loads a library."""

from __future__ import annotations

import importlib.metadata
import pathlib
import sys

from habana_frameworks.tensorflow._internal import releases
from habana_frameworks.tensorflow.errors import PluginNotFoundError, TensorFlowError

PLUGIN = "habana_device"
_PACKAGE = pathlib.Path(__file__).resolve().parent
_RELEASED = ("tensorflow", "tensorflow-cpu")  # distributions that have a release for the plugin
_FLAVOURS = (*_RELEASED, "tensorflow-intel", "tensorflow-cpu-aws", "intel-tensorflow", "tf-nightly")


def release() -> releases.Release:
    """Returns the TensorFlow release of this environment: of the built plugins, that of the installed one, or one for
    this Python.
    """
    built = [found for found in map(releases.release_of, sorted(built_for())) if found is not None]
    installed = installed_tensorflow().values()
    for found in built:
        if found.version in installed:
            return found
    minor = sys.version_info[1]
    return next((found for found in built if minor in found.pythons), (built or [releases.release_for_python()])[0])


def python_problem() -> tuple[str, str] | None:
    """Returns the reason why this Python version is not supported, and the remedy; None if it is supported."""
    supported = release()
    if sys.version_info[1] in supported.pythons:
        return None
    *others, last = (f"3.{minor}" for minor in supported.pythons)
    return (
        f"Python 3.{sys.version_info[1]} is not supported, because TensorFlow {supported.short_version} has no release "
        "for it",
        f"create the environment with Python {', '.join(others)} or {last}",
    )


def is_source_tree() -> bool:
    """Whether Python imports this package from a source tree, not from an installed package."""
    return (_PACKAGE.parent.parent / "pyproject.toml").is_file()


def install_command(extra: str = "") -> str:
    """Returns the pip command that installs this package, or an extra of pyproject.toml.

    The package is not on a package index. For an installed package, pip can still install an extra.
    """
    if is_source_tree():
        target = f"'.[{extra}]'" if extra else "."
        return f"pip install {target} in the source tree of hpu-tensorflow"
    return f"pip install 'hpu-tensorflow[{extra}]'" if extra else "pip install --force-reinstall hpu_tensorflow-….whl"


def rebuild_command() -> str:
    """Returns the command that replaces the built plugin: a build in a source tree, or an installation."""
    return "make build" if is_source_tree() else install_command()


def horovod_command() -> str:
    """Returns the command that builds Horovod for the installed TensorFlow."""
    if is_source_tree():
        return "make horovod, or tools/build_horovod.sh (docs/distributed/horovod.md)"
    return f"HOROVOD_WITH_TENSORFLOW=1 HOROVOD_WITH_GLOO=1 {install_command('horovod')} --no-build-isolation"


def tensorflow_command() -> str:
    """Returns the pip commands that leave one TensorFlow installed, in a version for which a plugin is built.

    pip does not replace one distribution of TensorFlow by another: the new files would be mixed with the old ones.
    """
    found = list(installed_tensorflow())
    keeps = len(found) == 1 and found[0] in _RELEASED
    name = found[0] if keeps else "tensorflow-cpu"
    built = sorted(built_for())
    version = release().version if not built or release().version in built else built[0]
    install = f"pip install {name}=={version}"
    return install if keeps or not found else f"pip uninstall {' '.join(found)}, then {install}"


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
            f"Cannot find Habana modules: no {PLUGIN}.so.{tensorflow_version} in {searched}. Build or reinstall the "
            f"plugin (`{rebuild_command()}`). Run `hpu doctor` to check the setup."
        )
    if tensorflow_version not in found:
        versions = ", ".join(sorted(found))
        raise TensorFlowError(
            f"TensorFlow {tensorflow_version} is installed, but this build of hpu-tensorflow is for {versions}. "
            f"Install a supported version ({tensorflow_command()}), or rebuild "
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
