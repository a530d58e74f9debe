"""compile(jit_compile=True) of Keras models on the HPU, without Keras's warning that XLA is missing."""

from __future__ import annotations

import functools
import importlib
import logging
from typing import Any

_logger = logging.getLogger("habana_frameworks.tensorflow")


def install(keras: Any) -> None:
    """Patches Keras's check of jit_compile=True, which warns for every device of a plugin. Idempotent.

    The check still returns False: the graph passes compile a train step into clusters anyway, and with jit_compile=True
    an op that does not compile would be an error.
    """
    tf_utils: Any = importlib.import_module(f"{keras.__name__}.src.utils.tf_utils")
    check = tf_utils.can_jit_compile
    if hasattr(check, "_replaced"):
        return

    @functools.wraps(check)
    def can_jit_compile(warn: bool = False) -> Any:
        if warn:
            _logger.info(
                "jit_compile=True has no effect on models: the HPU compiles train steps into clusters anyway, and "
                "runs ops that do not compile outside of them"
            )
        return check(warn=False)

    can_jit_compile._replaced = check  # type: ignore[attr-defined]
    tf_utils.can_jit_compile = can_jit_compile
