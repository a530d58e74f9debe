"""Check of a PJRT plugin: its file, whether it can be loaded, the version of its C API."""

from __future__ import annotations

import os
from collections.abc import Iterator

from habana_frameworks.tensorflow._internal import pjrt_plugins
from habana_frameworks.tensorflow._internal.pjrt_plugins import PluginFile
from habana_frameworks.tensorflow.cli.checks.finding import Finding, Level
from habana_frameworks.tensorflow.cli.checks.pjrt import extras, probing

# kMinMinorVersion in plugin/backends/pjrt/client/plugin.h.
_OLDEST = (0, 57)


def check(name: str, file: PluginFile | None) -> Iterator[Finding]:
    """Checks the plugin that `name` selects. `file` is None if the plugin does not exist."""
    if file is None:
        yield _missing(name)
        return
    data = {"path": str(file.path), "package": file.package, "version": file.version}
    if not os.access(file.path, os.R_OK):
        remedy = "make the file readable, or set HPU_BACKEND to another plugin"
        yield Finding("PJRT plugin", Level.ERROR, f"{file.path} cannot be read", remedy, data)
        return
    yield Finding("PJRT plugin", Level.OK, _describe(file), data=data)
    yield _check_version(file)


def list_installed() -> Iterator[Finding]:
    """Names the plugins that are installed but not selected."""
    for name in pjrt_plugins.PACKAGES:
        if file := pjrt_plugins.find(name):
            data = {"path": str(file.path), "package": file.package, "version": file.version}
            text = f"{_describe(file)}; HPU_BACKEND=pjrt:{name} selects it"
            yield Finding("PJRT plugin", Level.OK, text, data=data)


def _describe(file: PluginFile) -> str:
    known = f"{file.package} {file.version or '(unknown version)'}: " if file.package else ""
    return f"{known}{file.path}"


def _missing(name: str) -> Finding:
    subject, level = "PJRT plugin", Level.ERROR
    if "/" in name:
        return Finding(subject, level, f"{name} does not exist", "correct the path in HPU_BACKEND")
    if name not in pjrt_plugins.PACKAGES:
        text = f"HPU_BACKEND=pjrt:{name} is not a known plugin"
        expected = ", ".join(f"pjrt:{known}" for known in pjrt_plugins.PACKAGES)
        return Finding(subject, level, text, f"set HPU_BACKEND to {expected} or pjrt:/path/of/the/plugin.so")
    packages = " and ".join(package.distribution for package in pjrt_plugins.PACKAGES[name])
    folders = list(map(str, pjrt_plugins.folders()))
    text = f"no plugin for HPU_BACKEND=pjrt:{name}: neither of {packages} is in {', '.join(folders)}"
    return Finding(subject, level, text, extras.install_plugin(name), {"searched": folders})


def _check_version(file: PluginFile) -> Finding:
    report, problem = probing.run("plugin", str(file.path))
    if problem:
        remedy = "install the plugin again, or set HPU_BACKEND to another plugin"
        return Finding("PJRT plugin loads", Level.ERROR, f"{file.path}: {problem}", remedy)
    version = (report["major"], report["minor"])
    text = "PJRT C API {}.{}".format(*version)
    if version < _OLDEST or version[0] != _OLDEST[0]:
        expected = "supported: {}.{} to {}.x".format(*_OLDEST, _OLDEST[0])
        remedy = "install another release of the plugin"
        if file.package:
            remedy = extras.install_plugin("cpu" if file.cuda is None else f"cuda{file.cuda}")
        return Finding("PJRT plugin loads", Level.ERROR, f"{text} of {file.path}; {expected}", remedy, report)
    oldest = "oldest supported: {}.{}".format(*_OLDEST)
    return Finding("PJRT plugin loads", Level.OK, f"{text} ({oldest})", data=report)
