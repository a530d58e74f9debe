"""Files of Gaudi's driver, and the values of HPU_BACKEND that select a Gaudi card. Acquires no card."""

from __future__ import annotations

import functools
import pathlib
import subprocess
import sys

DEVICES = pathlib.Path("/dev")
_DRIVER = pathlib.Path("/sys/bus/pci/drivers/habanalabs")
# Folders of the cards by new and by old drivers (Documentation/ABI/testing/sysfs-driver-habanalabs of Linux).
_CLASSES = (pathlib.Path("/sys/class/accel"), pathlib.Path("/sys/class/habanalabs"))
_LOAD_SYNAPSE = "import ctypes; ctypes.CDLL('libSynapse.so')"
_LOAD_SECONDS = 60.0

LOAD_DRIVER = "load the driver (lsmod must list habanalabs); in a container: docker run --runtime=habana"
FIND_FAULT = "check that hl-smi lists the cards, and look for errors in dmesg"


def device_files(folder: pathlib.Path) -> list[pathlib.Path]:
    """Returns the files through which programs reach cards: accel/accel0 of new drivers, hl0 of old ones."""
    names = [*folder.glob("accel/accel[0-9]*"), *folder.glob("hl[0-9]*")]
    return sorted(name for name in names if name.name.removeprefix("accel").removeprefix("hl").isdecimal())


def is_selected(backend: str) -> bool:
    """Whether this value of HPU_BACKEND selects a Gaudi card.

    `auto` selects one by the rule of plugin/backends/gaudi/device/device_files.cc: the driver has a card, there is a
    device file, and SynapseAI can be loaded. Unlike the plugin, does not check SynapseAI's release.
    """
    if backend == "auto":
        return _has_card() and _has_synapse()
    return backend.partition(":")[0] == "gaudi"


def driver_version() -> str | None:
    """Returns the version of the driver that has a card, from sysfs; None if there is no card."""
    for folder in _CLASSES:
        # accel<n> of new drivers links to the card as `device`.
        for file in (*folder.glob("accel*/device/driver_ver"), *folder.glob("hl*/driver_ver")):
            try:
                return file.read_text().strip()
            except OSError:
                continue
    return None


def _has_card() -> bool:
    # In the driver's folder, a card is a link named by its PCI address. Other drivers also create files in /dev/accel.
    return any(_DRIVER.glob("*:*")) and bool(device_files(DEVICES))


@functools.cache
def _has_synapse() -> bool:
    """Whether SynapseAI can be loaded. Loads it in a child, because it may start threads or print."""
    command = [sys.executable, "-I", "-c", _LOAD_SYNAPSE]
    try:
        return subprocess.run(command, capture_output=True, timeout=_LOAD_SECONDS).returncode == 0
    except subprocess.TimeoutExpired:
        return False
