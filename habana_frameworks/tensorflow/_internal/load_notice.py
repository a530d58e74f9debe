"""The line that describes the HPU after load_habana_module(): backend, module, memory and recipe cache."""

from __future__ import annotations

import logging
import sys
from typing import Any

from habana_frameworks.tensorflow import flags
from habana_frameworks.tensorflow._internal import cards

_logger = logging.getLogger(__name__)


def log(info: Any) -> None:
    """Logs the line at level INFO. In interactive programs, shows it on stderr at every level. HPU_QUIET hides it.

    Warns if the device computes nothing.

    info: an hpu.report.v1.DeviceInfo of a device that need not be acquired.
    """
    if flags.quiet():
        return
    if info.backend == "null":
        _logger.warning(
            "HPU_BACKEND=null: the device computes nothing, and all its results are 0; use it for timing only"
        )
    text = describe(info)
    if _logger.isEnabledFor(logging.INFO):
        _logger.info("%s", text)
    elif _is_interactive():
        record = _logger.makeRecord(_logger.name, logging.INFO, __file__, 0, "%s", (text,), None)
        logging.StreamHandler(sys.stderr).handle(record)


def describe(info: Any) -> str:
    """Returns the line, such as "HPU: emulated GAUDI2, module 0, 32 GB; recipes in /tmp/recipes"."""
    parts = [_device(info.backend), _module(info.modules), _memory(info.backend)]
    path = flags.tf_recipe_cache_path()
    recipes = f"recipes in {path}" if path else "recipes in memory only (TF_RECIPE_CACHE_PATH is not set)"
    return f"HPU: {', '.join(filter(None, parts))}; {recipes}"


def _is_interactive() -> bool:
    # Jupyter and IPython also set sys.ps1. With python -i, sys.ps1 is missing while the script runs.
    return hasattr(sys, "ps1") or bool(sys.flags.interactive)


def _device(backend: str) -> str:
    return f"emulated {flags.device_type()}" if backend == "emulator" else backend


def _module(modules: int) -> str:
    """Returns the module as known before the device is acquired; empty if nothing is known."""
    if flags.hls_module_id() >= 0:
        return f"module {flags.hls_module_id()}"
    return f"any of {modules} modules" if modules > 1 else "module 0" if modules == 1 else ""


def _memory(backend: str) -> str:
    """Returns the size of device memory; empty for cards and servers, whose size is unknown before acquisition."""
    return f"{cards.memory_mb() / 1024:g} GB" if backend in ("emulator", "null") else ""
