"""Check of the files in /dev through which programs reach NVIDIA cards."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterator

from habana_frameworks.tensorflow._internal import pjrt_plugins
from habana_frameworks.tensorflow.cli.checks.finding import Finding, Level

_DEVICES = pathlib.Path("/dev")
_ABSENT = (
    "load the driver (nvidia-smi must list the card); in a container: docker run --gpus all, podman run --device "
    "nvidia.com/gpu=all, or request nvidia.com/gpu in Kubernetes"
)
_NO_PERMISSION = "run as a user that may open them, or change their permissions; in a container: docker run --gpus all"


def check() -> Iterator[Finding]:
    """Checks that the files exist and that this user may open them."""
    if (_DEVICES / "dxg").exists():
        yield Finding("device files", Level.OK, f"{_DEVICES / 'dxg'} (Windows Subsystem for Linux)")
        return
    cards = pjrt_plugins.card_files(_DEVICES)
    control, memory = _DEVICES / "nvidiactl", _DEVICES / "nvidia-uvm"
    absent = [] if cards else [str(_DEVICES / "nvidia0")]
    absent += [] if control.exists() else [str(control)]
    data = {"cards": list(map(str, cards))}
    if absent:
        yield Finding("device files", Level.ERROR, f"{' and '.join(absent)} missing", _ABSENT, data)
        return
    present = [*cards, control, *([memory] if memory.exists() else [])]
    closed = [str(path) for path in present if not os.access(path, os.R_OK | os.W_OK)]
    if closed:
        text = f"user {os.geteuid()} may not read and write {', '.join(closed)}"
        yield Finding("device files", Level.ERROR, text, _NO_PERMISSION, data)
        return
    if not memory.exists():
        text = f"{memory} is missing, and CUDA may lack the permission to create it"
        yield Finding("device files", Level.WARNING, text, "run nvidia-modprobe -u -c=0 on the host", data)
        return
    yield Finding("device files", Level.OK, ", ".join(map(str, present)), data=data)
