"""compile(jit_compile=…) of Keras models on the HPU, where the graph passes compile a train step into clusters anyway.

With jit_compile=True, an op that does not compile is an error.
"""

from __future__ import annotations

import functools
import importlib
import logging
from typing import Any

from habana_frameworks.tensorflow._internal import keras_packages

_logger = logging.getLogger("habana_frameworks.tensorflow")


def install(keras: Any) -> None:
    """Patches Keras 2's check of jit_compile=True, or Keras 3's choice for jit_compile="auto". Idempotent."""
    if keras_packages.is_keras_2(keras):
        _ignore_true(importlib.import_module(f"{keras.__name__}.src.utils.tf_utils"))
    else:
        _choose_false(importlib.import_module(f"{keras.__name__}.src.trainers.trainer").Trainer)


def _ignore_true(tf_utils: Any) -> None:
    """Patches Keras 2's check, which returns False and warns for every device of a plugin: it no longer warns."""
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


def _choose_false(trainer: Any) -> None:
    """Patches Keras 3's Trainer, for which "auto" means True beside an accelerator. An explicit True stays True."""
    choose = trainer._resolve_auto_jit_compile
    if hasattr(choose, "_replaced"):
        return

    @functools.wraps(choose)
    def resolve_auto_jit_compile(self: Any) -> bool:
        return False

    resolve_auto_jit_compile._replaced = choose  # type: ignore[attr-defined]
    trainer._resolve_auto_jit_compile = resolve_auto_jit_compile
