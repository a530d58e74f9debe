"""Check of Python, the package, TensorFlow and Keras. Does not import TensorFlow."""

from __future__ import annotations

import importlib.metadata
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
    problem = lib_utils.python_problem()
    if problem is not None:
        reason, remedy = problem
        yield Finding("Python", Level.ERROR, f"{reason} ({sys.executable})", remedy, data)
    else:
        yield Finding("Python", Level.OK, f"{version} ({sys.executable})", data=data)
    yield Finding(
        "hpu-tensorflow", Level.OK, f"{__version__} ({lib_utils.package_directory()})", data={"version": __version__}
    )
    yield _check_tensorflow()
    yield from _check_numpy()
    other = util.other_keras()
    if other is not None:
        release = lib_utils.release()
        text = f"{other} is installed, but TensorFlow {release.short_version} needs Keras {release.keras}"
        remedy = f"pip install {release.keras_requirement}, and import tensorflow.keras"
        yield Finding("Keras", Level.WARNING, text, remedy)


def _check_tensorflow() -> Finding:
    found = lib_utils.installed_tensorflow()
    listed = ", ".join(f"{name} {version}" for name, version in found.items())
    supported = sorted(lib_utils.built_for())
    data = {"installed": found, "built_for": supported}
    if not found:
        return Finding("TensorFlow", Level.ERROR, "not installed", lib_utils.tensorflow_command(), data)
    if len(found) > 1:
        text = f"{listed}: these packages overwrite each other's files"
        return Finding("TensorFlow", Level.ERROR, text, lib_utils.tensorflow_command(), data)
    (version,) = found.values()
    if supported and version not in supported:
        remedy = f"{lib_utils.tensorflow_command()}, or rebuild hpu-tensorflow"
        return Finding(
            "TensorFlow", Level.ERROR, f"{listed}; the plugin is built for {', '.join(supported)}", remedy, data
        )
    return Finding("TensorFlow", Level.OK, listed, data=data)


def _check_numpy() -> Iterator[Finding]:
    """Reports a NumPy with which TensorFlow cannot be imported."""
    try:
        version = importlib.metadata.version("numpy")
    except importlib.metadata.PackageNotFoundError:
        return
    release = lib_utils.release()
    if int(version.partition(".")[0]) > release.numpy:
        needs = f"TensorFlow {release.short_version} can be imported only with NumPy {release.numpy}"
        text = f"{version} is installed, but {needs}"
        yield Finding("NumPy", Level.ERROR, text, f"pip install 'numpy<{release.numpy + 1}'", {"version": version})
