"""Check of the Gaudi cards: whether SynapseAI finds them, and if not, why."""

from __future__ import annotations

import os
from collections.abc import Iterator

from habana_frameworks.tensorflow._internal import gaudi_cards
from habana_frameworks.tensorflow._internal.text import number
from habana_frameworks.tensorflow.cli.checks.finding import Finding, Level
from habana_frameworks.tensorflow.cli.checks.gaudi.library import Report

_SUBJECT = "Gaudi cards"
_NO_PERMISSION = "run as a user that may open them, or change their permissions"


def check(report: Report) -> Iterator[Finding]:
    """Checks the number of cards that SynapseAI reports."""
    if report.status == 0 and report.devices > 0:
        yield Finding(_SUBJECT, Level.OK, f"{report.devices} found", data={"count": report.devices})
        return
    files = gaudi_cards.device_files(gaudi_cards.DEVICES)
    data = {"count": 0, "status": report.status, "files": list(map(str, files))}
    why = f"SynapseAI fails with status {report.status}" if report.status else "SynapseAI finds no card"
    closed = [str(path) for path in files if not os.access(path, os.R_OK | os.W_OK)]
    if closed:
        text = f"{why}: user {os.geteuid()} may not read and write {', '.join(closed)}"
        yield Finding(_SUBJECT, Level.ERROR, text, _NO_PERMISSION, data)
    elif files:
        text = f"{why}, although the driver has {number(len(files), 'device file')}"
        yield Finding(_SUBJECT, Level.ERROR, text, gaudi_cards.FIND_FAULT, data)
    else:
        text = f"{why}: there is neither {gaudi_cards.DEVICES / 'accel/accel0'} nor {gaudi_cards.DEVICES / 'hl0'}"
        yield Finding(_SUBJECT, Level.ERROR, text, gaudi_cards.LOAD_DRIVER, data)
