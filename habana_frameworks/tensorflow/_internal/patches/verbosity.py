"""Output of Keras in jobs of `hpu run`: one line per epoch by rank 0, instead of a progress bar by every rank."""

from __future__ import annotations

import functools
import importlib
import os
from collections.abc import Callable
from typing import Any

from habana_frameworks.tensorflow._internal import keras_packages
from habana_frameworks.tensorflow._internal.launch import launchers

_ONE_LINE_PER_EPOCH, _SILENT = 2, 0


def install(keras: Any) -> None:
    """Patches Keras's choice for verbose="auto", the default of fit, evaluate and predict. Idempotent.

    Other values of `verbose` keep their meaning. Does nothing outside a job of `hpu run` with several ranks.
    """
    if launchers.RESTART_COUNT not in os.environ or launchers.ranks().size < 2:
        return
    if keras_packages.is_keras_2(keras):
        _patch(importlib.import_module(f"{keras.__name__}.src.engine.training"), "_get_verbosity", _keras_2)
    else:
        _patch(keras.callbacks.ProgbarLogger, "set_params", _keras_3)


def _patch(owner: Any, name: str, make: Callable[[Any], Any]) -> None:
    replaced = getattr(owner, name)
    if not hasattr(replaced, "_replaced"):
        function: Any = functools.wraps(replaced)(make(replaced))
        function._replaced = replaced
        setattr(owner, name, function)


def _auto() -> int:
    return _SILENT if launchers.ranks().rank else _ONE_LINE_PER_EPOCH


def _keras_2(choose: Any) -> Any:
    def get_verbosity(verbose: Any, distribute_strategy: Any) -> Any:
        return _auto() if verbose == "auto" else choose(verbose, distribute_strategy)

    return get_verbosity


def _keras_3(set_params: Any) -> Any:
    def set_params_of_rank(self: Any, params: Any) -> None:
        set_params(self, {**params, "verbose": _auto()} if params["verbose"] == "auto" else params)

    return set_params_of_rank
