"""Checks of `hpu doctor`. Each module returns findings about one subject."""

from __future__ import annotations

from habana_frameworks.tensorflow.cli.checks import (
    gaudi,
    grpc_libraries,
    horovod,
    host,
    pjrt,
    plugin,
    python,
    server,
    settings,
)
from habana_frameworks.tensorflow.cli.checks.finding import Finding, Level

__all__ = ["Finding", "Level", "run_all"]


def run_all() -> list[Finding]:
    """Runs all checks, in the order in which the parts of a set-up depend on each other."""
    findings: list[Finding] = []
    subjects = (python, horovod, pjrt, gaudi, plugin, grpc_libraries, server, host, settings)
    for subject in subjects:
        findings.extend(subject.check())
    return findings
