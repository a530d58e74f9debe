"""Layers and functions that use the HPU's fused ops (docs/user/layers.md). Only submodules import TensorFlow."""

import importlib
from typing import Any


def __getattr__(name: str) -> Any:
    """Imports a module of this package at first use."""
    if name in ("gelu", "instance_norm", "layer_norm"):
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
