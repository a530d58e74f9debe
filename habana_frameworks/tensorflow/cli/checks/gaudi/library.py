"""Check of SynapseAI's library: whether it can be loaded, and whether its release is supported."""

from __future__ import annotations

import dataclasses
import pathlib
import sys
from collections.abc import Generator

from habana_frameworks.tensorflow.cli.checks import child_process
from habana_frameworks.tensorflow.cli.checks.finding import Finding, Level

DEFAULT = "libSynapse.so"
# Releases with a profile in plugin/backends/gaudi/synapse/profile.cc.
SUPPORTED = ("1.5", "1.18")
_PROGRAM = pathlib.Path(__file__).with_name("library_probe.py")
_TIMEOUT_SECONDS = 60.0
SUBJECT = "SynapseAI"


@dataclasses.dataclass(frozen=True)
class Report:
    """Result of library_probe.py. `status` is synInitialize's, and `devices` the number of cards."""

    version: str
    status: int
    devices: int


def check(path: str) -> Generator[Finding, None, Report | None]:
    """Loads the library in a process of its own. Returns its report, or None if it cannot be used."""
    raw, problem = child_process.run([sys.executable, "-I", str(_PROGRAM), path], _TIMEOUT_SECONDS)
    problem = problem or raw.get("error", "")
    if problem:
        remedy = "install SynapseAI, add its folder to LD_LIBRARY_PATH, or set HPU_BACKEND=gaudi:/path/of/libSynapse.so"
        yield Finding(SUBJECT, Level.ERROR, f"{path} cannot be used: {problem}", remedy, {"path": path})
        return None
    report = Report(raw["version"], raw["status"], raw["devices"])
    data = {"path": path, "version": report.version}
    release = ".".join(report.version.split("-")[0].split(".")[:2])
    if release not in SUPPORTED:
        text = f"{path} is release {report.version!r}, which is not supported"
        yield Finding(SUBJECT, Level.ERROR, text, f"install SynapseAI {' or '.join(SUPPORTED)}", data)
        return None
    yield Finding(SUBJECT, Level.OK, f"{report.version} ({path})", data=data)
    return report
