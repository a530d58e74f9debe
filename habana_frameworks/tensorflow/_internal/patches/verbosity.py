"""Output of Keras in jobs of `hpu run`: one line per epoch by rank 0, instead of a progress bar by every rank."""

from __future__ import annotations

import functools
import importlib
import os
from typing import Any

from habana_frameworks.tensorflow._internal.launch import launchers

_ONE_LINE_PER_EPOCH, _SILENT = 2, 0


def install(keras: Any) -> None:
    """Patches Keras's choice for verbose="auto", the default of fit, evaluate and predict. Idempotent.

    Other values of `verbose` keep their meaning. Does nothing outside a job of `hpu run` with several ranks.
    """
    if launchers.RESTART_COUNT not in os.environ or launchers.ranks().size < 2:
        return
    training: Any = importlib.import_module(f"{keras.__name__}.src.engine.training")
    choose = training._get_verbosity
    if hasattr(choose, "_replaced"):
        return

    @functools.wraps(choose)
    def get_verbosity(verbose: Any, distribute_strategy: Any) -> Any:
        if verbose == "auto":
            return _SILENT if launchers.ranks().rank else _ONE_LINE_PER_EPOCH
        return choose(verbose, distribute_strategy)

    get_verbosity._replaced = choose  # type: ignore[attr-defined]
    training._get_verbosity = get_verbosity
