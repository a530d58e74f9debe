"""Acquires a module of HPU_BACKEND, and prints its number or the error."""

from __future__ import annotations

import sys

from habana_frameworks.tensorflow import errors, habana_device

try:
    habana_device.acquire()
    sys.stdout.write(f"acquired {habana_device.info()['module_id']}\n")
except errors.DeviceError as error:
    sys.stdout.write(f"{error.code} {error}\n")
