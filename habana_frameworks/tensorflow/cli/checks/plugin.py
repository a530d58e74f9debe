"""Check of the plugin: its file, whether TensorFlow can load it, and its device."""

from __future__ import annotations

import functools
import os
import pathlib
import sys
from collections.abc import Iterator
from typing import Any

from habana_frameworks.tensorflow import flags, lib_utils
from habana_frameworks.tensorflow.cli.checks import child_process, server
from habana_frameworks.tensorflow.cli.checks.finding import Finding, Level

_TIMEOUT_SECONDS = 120
_BUILD = f"build or install the plugin again: {lib_utils.rebuild_command()}"
# Runs in a separate process, so that a crash of the plugin does not end `hpu doctor`.
_PROBE = """
import json, sys
from habana_frameworks.tensorflow import errors, flags, habana_device, library_loader, version_getter
from habana_frameworks.tensorflow.op_registry import kernels
report = {"devices": [], "error": "", "kind": ""}
try:
    report["devices"] = [device.name for device in library_loader.load_habana_module()]
    report["version"] = version_getter.get_library_version()
    report["device"] = habana_device.info()
    if flags.tf_place_on_cpu():
        report["ops"] = list(kernels.definitions())
except errors.HabanaModuleError as error:
    report["error"], report["kind"] = str(error), type(error).__name__
sys.stdout.write("\\n" + json.dumps(report))
"""


def check() -> Iterator[Finding]:
    """Checks that plugin files exist, then loads the plugin."""
    files = lib_utils.built_for()
    if not files:
        searched = ", ".join(map(str, lib_utils.search_paths()))
        yield Finding("plugin", Level.ERROR, f"not found in {searched}", _BUILD, {"searched": searched})
        return
    for version, path in sorted(files.items()):
        yield Finding(
            "plugin", Level.OK, f"{path} for TensorFlow {version}", data={"path": str(path), "tensorflow": version}
        )
    report, problem = probe()
    if problem:
        yield Finding("plugin loads", Level.ERROR, problem, _BUILD)
        return
    yield from _check_report(report)


def op_types() -> list[str]:
    """Returns the types of all ops of TensorFlow and the plugin; empty if the plugin cannot be loaded.

    The probe lists them only if TF_PLACE_ON_CPU is set.
    """
    report, _ = probe()
    return list(report.get("ops", ()))


@functools.cache
def probe() -> tuple[dict[str, Any], str]:
    """Loads the plugin in a new process. Returns the process's report and, on failure, the problem."""
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": os.environ.get("TF_CPP_MIN_LOG_LEVEL", "2")}
    root = str(pathlib.Path(lib_utils.package_directory()).parent.parent)
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [root, environment.get("PYTHONPATH", "")]))
    environment.pop("HPU_STRICT_FLAGS", None)  # a separate check reports unknown settings
    return child_process.run([sys.executable, "-c", _PROBE], _TIMEOUT_SECONDS, environment)


def _check_report(report: dict[str, Any]) -> Iterator[Finding]:
    if report["kind"] == "BackendError" and server.is_unavailable():
        return  # the check of the server reports the same problem, with its remedy
    if report["kind"] == "BackendError":
        yield Finding("backend", Level.ERROR, report["error"], "correct or unset HPU_BACKEND")
        return
    if report["kind"] == "TensorFlowError":
        yield Finding("plugin loads", Level.ERROR, report["error"], lib_utils.tensorflow_command())
        return
    if report["error"]:
        remedy = "correct or unset the setting" if report["kind"] == "SettingError" else _BUILD
        yield Finding("plugin loads", Level.ERROR, report["error"], remedy)
        return
    yield Finding("plugin loads", Level.OK, report["version"], data={"version": report["version"]})
    device = report["device"]
    asked = flags.backend()
    yield Finding("backend", Level.OK, f"{device['backend']} (HPU_BACKEND={asked})", data=device)
    if report["devices"]:
        yield Finding("device", Level.OK, ", ".join(report["devices"]), data={"devices": report["devices"]})
    else:
        yield Finding("device", Level.ERROR, "TensorFlow lists no HPU, although the plugin loaded", _BUILD)
