"""Program for test_load_notice.py."""

from __future__ import annotations

import logging
import sys

from habana_frameworks.tensorflow import habana_device, load_habana_module


def load(prompt: bool, log: bool = False) -> None:
    """Loads the module twice. `prompt`: as at Python's prompt. `log`: with logging at level INFO."""
    if prompt:
        sys.ps1 = ">>> "
    if log:
        logging.basicConfig(level=logging.INFO)
    load_habana_module()
    load_habana_module()
    assert not habana_device.info()["acquired"]
