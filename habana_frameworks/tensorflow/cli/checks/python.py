"""Check of Python, the package, TensorFlow and Keras. Does not import TensorFlow."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator

from habana_frameworks.tensorflow import lib_utils, util
from habana_frameworks.tensorflow._internal.version import __version__
from habana_frameworks.tensorflow.cli.checks.finding import Finding, Level


def check() -> Iterator[Finding]:
    """Checks the interpreter, the package, TensorFlow and Keras."""
    version = platform.python_version()
    data = {"executable": sys.executable, "version": version}
    if (3, 9) <= sys.version_info[:2] < (3, 12):
        yield Finding("Python", Level.OK, f"{version} ({sys.executable})", data=data)
    else:
        yield Finding("Python", Level.ERROR, f"{version} is not supported", "use Python 3.9, 3.10 or 3.11", data)
    yield Finding(
        "hpu-tensorflow", Level.OK, f"{__version__} ({lib_utils.package_directory()})", data={"version": __version__}
    )
    yield _check_tensorflow()
    other = util.other_keras()
    if other is not None:
        remedy = "pip install 'keras==2.15.*', and import tensorflow.keras"
        yield Finding("Keras", Level.WARNING, f"{other} is installed, but TensorFlow 2.15 needs Keras 2.15", remedy)


def _check_tensorflow() -> Finding:
    found = lib_utils.installed_tensorflow()
    listed = ", ".join(f"{name} {version}" for name, version in found.items())
    supported = sorted(lib_utils.built_for())
    supported_version = supported[-1] if supported else "2.15.1"
    data = {"installed": found, "built_for": supported}
    if not found:
        return Finding(
            "TensorFlow", Level.ERROR, "not installed", f"pip install tensorflow-cpu=={supported_version}", data
        )
    if len(found) > 1:
        remedy = f"pip uninstall {' '.join(found)}, then install only one of them"
        return Finding(
            "TensorFlow", Level.ERROR, f"{listed}: these packages overwrite each other's files", remedy, data
        )
    (version,) = found.values()
    if supported and version not in supported:
        remedy = f"pip install {next(iter(found))}=={supported_version}, or rebuild hpu-tensorflow"
        return Finding(
            "TensorFlow", Level.ERROR, f"{listed}; the plugin is built for {', '.join(supported)}", remedy, data
        )
    return Finding("TensorFlow", Level.OK, listed, data=data)
