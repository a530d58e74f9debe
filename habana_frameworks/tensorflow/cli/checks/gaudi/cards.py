"""Check of the Gaudi cards: whether SynapseAI finds them, and if not, why."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterator

from habana_frameworks.tensorflow.cli.checks.finding import Finding, Level
from habana_frameworks.tensorflow.cli.checks.gaudi.library import Report

_SUBJECT = "Gaudi cards"
_DEVICES = pathlib.Path("/dev")
_NO_DRIVER = "load the driver (lsmod must list habanalabs); in a container: docker run --runtime=habana"
_NO_ANSWER = "check that hl-smi lists the cards, and look for errors in dmesg"
_NO_PERMISSION = "run as a user that may open them, or change their permissions"


def device_files(folder: pathlib.Path) -> list[pathlib.Path]:
    """Returns the files through which programs reach cards: accel/accel0 of new drivers, hl0 of old ones."""
    names = [*folder.glob("accel/accel[0-9]*"), *folder.glob("hl[0-9]*")]
    return sorted(name for name in names if name.name.removeprefix("accel").removeprefix("hl").isdecimal())


def may_be_selected(backend: str) -> bool:
    """Whether this value of HPU_BACKEND selects a Gaudi card: gaudi does, auto may if there are device files."""
    return backend.partition(":")[0] == "gaudi" or (backend == "auto" and bool(device_files(_DEVICES)))


def check(report: Report) -> Iterator[Finding]:
    """Checks the number of cards that SynapseAI reports."""
    if report.status == 0 and report.devices > 0:
        yield Finding(_SUBJECT, Level.OK, f"{report.devices} found", data={"count": report.devices})
        return
    files = device_files(_DEVICES)
    data = {"count": 0, "status": report.status, "files": list(map(str, files))}
    why = f"SynapseAI fails with status {report.status}" if report.status else "SynapseAI finds no card"
    closed = [str(path) for path in files if not os.access(path, os.R_OK | os.W_OK)]
    if closed:
        text = f"{why}: user {os.geteuid()} may not read and write {', '.join(closed)}"
        yield Finding(_SUBJECT, Level.ERROR, text, _NO_PERMISSION, data)
    elif files:
        text = f"{why}, although the driver has {len(files)} device files"
        yield Finding(
            _SUBJECT, Level.ERROR, text, "check that hl-smi lists the cards, and look for errors in dmesg", data
        )
    else:
        text = f"{why}: there is neither {_DEVICES / 'accel/accel0'} nor {_DEVICES / 'hl0'}"
        yield Finding(_SUBJECT, Level.ERROR, text, _NO_DRIVER, data)
