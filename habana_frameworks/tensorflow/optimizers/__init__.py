"""TensorFlow Addons' optimizer utilities that programs for Gaudi use."""

import importlib
from typing import Any


def __getattr__(name: str) -> Any:
    """Imports a module of this package at first use."""
    if name in ("cyclical_learning_rate",):
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
