"""`hpu doctor`: reports the installation, the backend, problems and their remedies."""

from __future__ import annotations

import argparse
import dataclasses
import json
from typing import Any

from habana_frameworks.tensorflow.cli import checks
from habana_frameworks.tensorflow.cli.checks import Finding, Level

_MARKS = {Level.OK: "ok", Level.NOTE: "note", Level.WARNING: "warning", Level.ERROR: "ERROR"}


def add_parser(subparsers: Any) -> None:
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "doctor",
        help="check the setup and suggest fixes",
        description="Checks the setup. Exit code 0: the HPU can be used; 1: the HPU cannot be used, and the output "
        "lists the errors.",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Prints the findings of every check."""
    findings = checks.run_all()
    healthy = all(finding.level is not Level.ERROR for finding in findings)
    if arguments.json:
        print(json.dumps({"healthy": healthy, "findings": [_as_json(finding) for finding in findings]}, indent=2))
    else:
        _print(findings)
        print("The HPU can be used." if healthy else "The HPU cannot be used: see the errors above.")
    return 0 if healthy else 1


def _as_json(finding: Finding) -> dict[str, Any]:
    return {**dataclasses.asdict(finding), "level": finding.level.value}


def _print(findings: list[Finding]) -> None:
    width = max(len(finding.subject) for finding in findings)
    for finding in findings:
        print(f"{_MARKS[finding.level]:>7}  {finding.subject:<{width}}  {finding.text}")
        if finding.remedy:
            print(f"{'':7}  {'':{width}}  -> {finding.remedy}")
