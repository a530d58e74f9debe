"""Programs that only acquire the device, for tests in several directories."""

from __future__ import annotations

import os
import sys

from habana_frameworks.tensorflow import errors, habana_device


def hold() -> None:
    """Acquires the device, prints the process id, and holds the device until its input ends."""
    habana_device.acquire()
    print(os.getpid(), flush=True)
    sys.stdin.read()


def acquire() -> None:
    """Prints the acquired module, or the error."""
    try:
        habana_device.acquire()
        print("acquired", habana_device.info()["module_id"])
    except errors.BackendError as error:
        print(error)
    except errors.DeviceError as error:
        print(error.code, error)
